/** Fronts die and are replaced under load, and only clients connected to a dead one notice. */
import { startLoad } from '../../support/load/load.ts'
import { monotonicMs, type LoadPlan, type LoadResult } from '../../support/load/load-plan.ts'
import { clientPortsOf, clientPortsTo, listenersOn } from '../../support/wire/sockets.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { median, tally, type Program, type Proof } from '../proof.ts'

const FRONTS = 2
const CONNECTIONS = 32
const BACK_MS_MAX = 2_000
const BACK_MS_MEDIAN = 1_000
const GIVE_UP_MS = 120_000
/** Milliseconds after the end of a front in which its connections are cut. */
const CUT_MS_MAX = 30_000
/**
 * Milliseconds that the provider takes in the short form: every connection is in the midst of a call nearly
 * always, at a fortieth of the calls.
 */
const SHORT_LATENCY_MS = 400
/** A replaced front stays for idle connections; the next roll waits for it. */
const ROLL_MS_MAX = 240_000

export const program: Program = {
  text: 'kill -9 a front under load: only its own connections fail and it is back; reloads under load fail nothing',
  async run(proof) {
    const stand = await startStand({
      settings: { SLUICE_FRONTS: String(FRONTS) },
      latencyMs: proof.isShort ? SHORT_LATENCY_MS : 0,
    })
    proof.after(() => stand.stop())
    await kills(proof, stand, proof.isShort ? 2 : 20)
    await reloads(proof, stand, proof.isShort ? 1 : 5)
  },
}

interface Kill {
  /** When its connections were looked at, and when it was seen to be gone. */
  readonly lookedAt: number
  readonly goneAt: number
  readonly own: ReadonlySet<number>
  readonly backMs: number
}

async function kills(proof: Proof, stand: Stand, count: number): Promise<void> {
  const load = await startLoad(plan(stand))
  const made: Kill[] = []
  for (let round = 0; round < count; round++) {
    await pause(300)
    made.push(await killOne(proof, stand))
    proof.say(`kill ${round + 1}: back after ${made.at(-1)?.backMs.toFixed(0) ?? '?'} ms`)
  }
  await pause(300)
  const result = await load.stop()
  const strangers = cutByOthers(result, made)
  const backs = made.map((kill) => kill.backMs)
  proof.check(
    `${count} killed fronts: only their own connections fail`,
    strangers.length === 0,
    `${result.sockets.filter((socket) => socket.isCut).length} connections cut, ${strangers.length} of them not a killed front's`,
  )
  proof.check('whatever is answered is answered well', isOnly(result, ['0', '200']), tally(result.statuses))
  proof.check(
    'every killed front is replaced',
    backs.every((ms) => ms < GIVE_UP_MS),
    `${backs.length} times`,
  )
  proof.checkTimed(
    'back within 2 s, median within 1 s',
    Math.max(...backs) <= BACK_MS_MAX && median(backs) <= BACK_MS_MEDIAN,
    `median ${median(backs).toFixed(0)} ms, most ${Math.max(...backs).toFixed(0)} ms`,
  )
}

async function killOne(proof: Proof, stand: Stand): Promise<Kill> {
  const fronts = stand.fronts()
  const pid = fronts[proof.random(fronts.length)]
  if (pid === undefined) throw new Error(`the stand has no fronts:\n${stand.output()}`)
  const lookedAt = monotonicMs()
  // Connections that no other front holds: one not accepted yet is in the queue of one of them.
  const others = new Set(
    fronts.filter((other) => other !== pid).flatMap((other) => [...clientPortsOf(other, stand.port)]),
  )
  const own = new Set([...clientPortsTo(stand.port)].filter((port) => !others.has(port)))
  process.kill(pid, 'SIGKILL')
  const at = monotonicMs()
  while (stand.fronts().includes(pid) && monotonicMs() - at < GIVE_UP_MS) await pause(5)
  // A crowded machine takes its time to end it: until then it is given connections.
  const goneAt = monotonicMs()
  while (listenersOn(stand.port) !== FRONTS && monotonicMs() - at < GIVE_UP_MS) await pause(20)
  return { lookedAt, goneAt, own, backMs: monotonicMs() - at }
}

/** Between the look at a front's connections and its end it may be given new ones; those are its own too. */
const LOOK_MS = 100

function cutByOthers(result: LoadResult, made: readonly Kill[]): readonly number[] {
  return result.sockets
    .filter((socket) => socket.isCut)
    .filter(
      (socket) =>
        !made.some((kill) => {
          const isBehind = socket.closedAt > kill.lookedAt && socket.closedAt < kill.goneAt + CUT_MS_MAX
          const isOfTheLook = socket.openedAt > kill.lookedAt - LOOK_MS
          return (
            isBehind &&
            socket.openedAt < kill.goneAt + LOOK_MS &&
            (isOfTheLook || kill.own.has(socket.localPort))
          )
        }),
    )
    .map((socket) => socket.localPort)
}

async function reloads(proof: Proof, stand: Stand, count: number): Promise<void> {
  const load = await startLoad(plan(stand))
  let replaced = 0
  for (let round = 0; round < count; round++) {
    const before = new Set(stand.fronts())
    process.kill(stand.pid, 'SIGHUP')
    if (await isRolled(stand, before)) replaced += 1
    proof.say(`reload ${round + 1}: fronts ${stand.fronts().join(', ')}`)
  }
  const result = await load.stop()
  proof.check(`${count} reloads replace every front`, replaced === count, `${replaced} times`)
  proof.check(
    'no request fails on a keep-alive connection',
    isOnly(result, ['200']),
    `${tally(result.statuses)}${result.failures.length === 0 ? '' : `, ${result.failures.join(', ')}`}`,
  )
}

async function isRolled(stand: Stand, before: ReadonlySet<number>): Promise<boolean> {
  const endsAt = monotonicMs() + ROLL_MS_MAX
  while (monotonicMs() < endsAt) {
    const now = stand.fronts()
    if (now.length === FRONTS && now.every((pid) => !before.has(pid))) return true
    await pause(200)
  }
  return false
}

function plan(stand: Stand): LoadPlan {
  return {
    host: '127.0.0.1',
    port: stand.port,
    connections: CONNECTIONS,
    durationMs: 600_000,
    pace: { kind: 'closed' },
    requests: [stand.embeddings()],
  }
}

function isOnly(result: LoadResult, statuses: readonly string[]): boolean {
  return result.requests > 0 && Object.keys(result.statuses).every((status) => statuses.includes(status))
}
