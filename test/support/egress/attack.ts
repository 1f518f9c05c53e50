import { channel } from 'node:diagnostics_channel'
import { networkInterfaces } from 'node:os'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { resolveBySystem } from '../../../src/server/egress/lookups.ts'
import type { Destination, Egress } from '../../../src/server/ports/egress/egress.ts'
import { hostileDestinations, type Hostile } from './hostile-destinations.ts'
import { freePort } from '../nodes/spawned.ts'
import { exchangeRequest, startTarget, textOf, type Target } from './vetted-stand.ts'

/**
 * An address of loopback that nothing else uses, and the only one that the allow-list of the attack admits.
 */
const GOOD_ADDRESS = '127.77.0.1'

export interface Attack {
  readonly tries: number
  /** Descriptions of those that were not refused as destinations. */
  readonly wrong: readonly string[]
  /** Connections at the trap, and sockets that this process opened anywhere. */
  readonly trapped: number
  readonly opened: number
  /** What the good destination said, and how often it was asked. */
  readonly good: readonly string[]
  readonly goodConnections: number
}

/** Asks a destination; resolves with what it said, or with the name of the failure. */
export type Reach = (egress: Egress, destination: Destination) => Promise<string>

/**
 * Tries every hostile destination, for both purposes, against a trap on every address of this machine.
 * @param reach by an exchange unless given
 */
export async function attack(reach: Reach = exchanged): Promise<Attack> {
  // A port that the system never gave out: another test may still call a server of its own that has ended.
  const trap = await startTarget(null, hasIpv6() ? '::' : '0.0.0.0', await freePort())
  const target = await startTarget(null, GOOD_ADDRESS)
  const answers = new Map<string, readonly (readonly string[])[]>()
  const egress = openEgress({
    allow: [`http:${GOOD_ADDRESS}:${target.port}`],
    // What a rule of ours let through would be resolved as the system does, and meet the trap.
    resolve: async (name) => {
      const [first, ...later] = answers.get(name) ?? []
      if (later.length > 0) answers.set(name, later)
      return first ?? resolveBySystem(name)
    },
  })
  const sockets = countSockets()
  try {
    const wrong: string[] = []
    let tries = 0
    for (const hostile of hostileDestinations()) {
      if (hostile.resolves !== undefined) answers.set(hostile.host, [hostile.resolves])
      else if (hostile.host === 'good.example') answers.set(hostile.host, [[GOOD_ADDRESS]])
      for (const purpose of ['caller', 'callback'] as const) {
        tries++
        const name = await reach(egress, { host: hostile.host, port: hostile.port ?? trap.port, purpose })
        if (name !== 'destination_refused') wrong.push(`${reported(hostile)} for ${purpose}: ${name}`)
      }
    }
    const opened = sockets.count()
    const moving = await movingNames({ egress, target, trap, answers, reach })
    const good = await ways({ egress, target, trap, answers, reach })
    return {
      tries: tries + moving.tries,
      wrong: [...wrong, ...moving.wrong],
      opened,
      trapped: trap.connections,
      good,
      goodConnections: target.connections,
    }
  } finally {
    sockets.stop()
    await egress.close()
    await Promise.all([trap.close(), target.close()])
  }
}

interface Stand {
  readonly egress: Egress
  readonly target: Target
  readonly trap: Target
  readonly answers: Map<string, readonly (readonly string[])[]>
  readonly reach: Reach
}

/** Names whose answer changes between the look and the connection, and between two connections. */
async function movingNames({
  egress,
  trap,
  target,
  answers,
  reach,
}: Stand): Promise<{ tries: number; wrong: readonly string[] }> {
  const wrong: string[] = []
  const turns: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['public, then loopback', ['93.184.216.34'], ['127.0.0.1']],
    ['public, then metadata', ['93.184.216.34'], ['169.254.169.254']],
    ['admitted, then another loopback', [GOOD_ADDRESS], ['127.0.0.1']],
  ]
  for (const [what, first, then] of turns) {
    const port = first[0] === GOOD_ADDRESS ? target.port : trap.port
    const host = `moving${wrong.length}-${port}.example`
    answers.set(host, [first, then])
    const origin = egress.vetted({ host, port, purpose: 'caller' })
    const looked = origin.ok ? await origin.value.check() : origin
    const name = await reach(egress, { host, port, purpose: 'caller' })
    if (!looked.ok || name !== 'destination_refused') wrong.push(`${what}: ${looked.ok}, ${name}`)
  }
  return { tries: turns.length, wrong }
}

/** Asks the good destination, once plainly and once for each place that it redirects to. */
async function ways({ egress, target, trap, answers, reach }: Stand): Promise<readonly string[]> {
  answers.set('good.example', [[GOOD_ADDRESS]])
  const text = [await reach(egress, { host: 'good.example', port: target.port, purpose: 'caller' })]
  const places = [
    'http://169.254.169.254/latest/meta-data/',
    `http://127.0.0.1:${trap.port}/`,
    `//[::1]:${trap.port}/`,
    `https://localhost:${trap.port}/`,
  ]
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of places) {
      target.answer(
        (_req, res) =>
          void res.writeHead(status, { location, refresh: `0; url=${location}` }).end(String(status)),
      )
      text.push(await reach(egress, { host: 'good.example', port: target.port, purpose: 'caller' }))
    }
  }
  return text
}

async function exchanged(egress: Egress, destination: Destination): Promise<string> {
  const origin = egress.vetted(destination)
  return origin.ok ? textOf(await origin.value.exchange(exchangeRequest())) : origin.failure.name
}

/** Sockets of this process: that none was opened says more than that none arrived. */
function countSockets(): { count: () => number; stop: () => void } {
  let count = 0
  const opened = (): void => void count++
  const sockets = channel('net.client.socket')
  sockets.subscribe(opened)
  return { count: () => count, stop: () => sockets.unsubscribe(opened) }
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some(
    (list) => list?.some(({ family }) => family === 'IPv6') === true,
  )
}

function reported({ what, host, port, resolves }: Hostile): string {
  return `${what}: ${JSON.stringify(host)}${port === undefined ? '' : `, port ${port}`}${resolves === undefined ? '' : ` (${resolves.join(', ')})`}`
}
