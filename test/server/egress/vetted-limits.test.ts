import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { FAILURES, type Outcome } from '../../../src/schemas/failures.ts'
import {
  VETTED_ANSWERS_BYTES_MAX,
  VETTED_WORKSPACE_CALLS_MAX,
} from '../../../src/schemas/egress/egress-limits.ts'
import {
  UPSTREAM_ANSWERS_BYTES_MAX,
  UPSTREAM_ANSWER_BYTES_MAX,
} from '../../../src/schemas/models/provider-limits.ts'
import { callerBy } from '../../support/keys/callers.ts'
import { callingPortsOf } from '../../support/wire/sockets.ts'
import { exchangeRequest, rigged, textOf, type Rig } from '../../support/egress/vetted-stand.ts'
import { request } from '../../support/egress/egress-rig.ts'
import { must } from '../../support/must.ts'
import { until } from '../../support/wait.ts'
import {
  VETTED_CALLS_MAX,
  VETTED_CONNECTIONS_MAX,
  VETTED_IDLE_MS,
  VETTED_KEEP_ALIVE_MS,
  VETTED_POOLS_MAX,
  VETTED_SOCKETS_MAX,
  VETTED_WAITING_MAX,
} from '../../../src/server/egress/vetted.ts'
import {
  LOOKUP_MS_MAX,
  LOOKUPS_MAX,
  LOOKUPS_WAITING_MAX,
  WORKSPACE_LOOKUPS_MAX,
  WORKSPACE_LOOKUPS_WAITING_MAX,
} from '../../../src/server/egress/lookups.ts'

/** Makes an exchange with a host and reads its answer. */
function asker({ egress, target }: Rig, workspaceId?: string): (host: string) => Promise<string> {
  return async (host) => {
    const origin = egress.vetted({
      host,
      port: target.port,
      purpose: 'caller',
      ...(workspaceId !== undefined && { workspaceId }),
    })
    const text = origin.ok ? await textOf(await origin.value.exchange(exchangeRequest())) : nameOf(origin)
    return text in FAILURES ? text : 'answered'
  }
}

function nameOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'answered' : outcome.failure.name
}

function times<T>(count: number, make: (nth: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, nth) => make(nth))
}

/** No lookup is late until the test moves the clock. */
function stopTime(t: Test): void {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** As `until`, which needs the clock, for what takes turns of the loop alone. */
async function untilTurned(what: string, is: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100_000; turns++) {
    if (is()) return
    await turn()
  }
  throw new Error(`never: ${what}`)
}

/** What is answered without the clock, or that nothing is. */
const soon = <T>(asked: readonly Promise<T>[]): Promise<T | 'nothing yet'> => {
  const turned = async (): Promise<'nothing yet'> => {
    for (let turns = 0; turns < 100; turns++) await turn()
    return 'nothing yet'
  }
  return Promise.race([...asked, turned()])
}

t.test('a host has VETTED_CONNECTIONS_MAX connections and VETTED_WAITING_MAX waiting calls', async (t) => {
  const rig = await rigged(t)
  const { target } = rig
  const ask = asker(rig)
  const held: (() => void)[] = []
  target.answer((_req, res) => void held.push(() => res.end('late')))
  const asked = times(VETTED_CONNECTIONS_MAX + VETTED_WAITING_MAX, () => ask('one.example'))
  t.equal(await ask('one.example'), 'busy')
  await until(() => held.length === VETTED_CONNECTIONS_MAX)
  t.equal(target.connections, VETTED_CONNECTIONS_MAX)
  target.answer((_req, res) => void res.end('at once'))
  for (const release of held) release()
  t.same(new Set(await Promise.all(asked)), new Set(['answered']))
})

t.test('streams leave connections for short calls, and waits do not count against the host', async (t) => {
  const rig = await rigged(t)
  const { target, egress } = rig
  const ask = asker(rig)
  const held: (() => void)[] = []
  target.answer((_req, res) => void held.push(() => res.end('late')))
  const streams = times(VETTED_CONNECTIONS_MAX, () => ask('one.example'))
  await until(() => held.length === VETTED_CONNECTIONS_MAX)
  const origin = must(egress.vetted({ host: 'one.example', port: target.port, purpose: 'caller' }))
  const waiting = { ...exchangeRequest(), beginsBy: () => performance.now() }
  t.equal(nameOf(await origin.exchange(waiting)), 'busy')
  target.answer((_req, res) => void res.end('at once'))
  const answer = must(await origin.call(request()))
  t.equal(Buffer.from(answer.body).toString(), 'at once')
  answer.release()
  for (const release of held) release()
  await Promise.all(streams)
})

t.test('a front has at most VETTED_CALLS_MAX calls to hosts of callers, and one more is busy', async (t) => {
  const rig = await rigged(t)
  const { target, egress } = rig
  const ask = asker(rig)
  target.answer(() => undefined)
  const hosts = VETTED_CALLS_MAX / VETTED_CONNECTIONS_MAX
  const asked = times(VETTED_CALLS_MAX, (nth) => ask(`h${nth % hosts}.example`))
  t.equal(egress.load.calls, VETTED_CALLS_MAX)
  t.equal(await ask('one-more.example'), 'busy')
  await egress.close()
  await Promise.all(asked)
})

t.test(
  'a workspace whose destinations never answer does not block other workspaces, and a host does not block other hosts',
  async (t) => {
    const rig = await rigged(t)
    const { target, egress } = rig
    const [one, other] = [asker(rig, 'one'), asker(rig, 'other')]
    target.answer(() => undefined)
    const hosts = VETTED_WORKSPACE_CALLS_MAX / (VETTED_CONNECTIONS_MAX + VETTED_WAITING_MAX)
    const asked = times(VETTED_WORKSPACE_CALLS_MAX, (nth) => one(`h${nth % hosts}.example`))
    t.equal(await one('one-more.example'), 'busy')
    target.answer((_req, res) => void res.end())
    t.equal(await other('h0.example'), 'answered')
    t.equal(await other('one-more.example'), 'answered')
    await egress.close()
    await Promise.all(asked)
    t.ok(VETTED_POOLS_MAX >= VETTED_CALLS_MAX, 'nor by many hosts')
  },
)

t.test('two workspaces share no connection to a host', async (t) => {
  const rig = await rigged(t)
  const [one, other] = [asker(rig, 'one'), asker(rig, 'other')]
  // One after the other: at the end some connection is idle.
  for (let asked = 0; asked < 4; asked++) t.equal(await one('h.example'), 'answered')
  const { connections } = rig.target
  t.equal(await other('h.example'), 'answered')
  t.equal(rig.target.connections, connections + 1)
})

t.test('the number of pools is limited: the least recently used pool is closed', async (t) => {
  const rig = await rigged(t)
  const { target } = rig
  const ask = asker(rig)
  for (let asked = 0; asked < VETTED_POOLS_MAX + 20; asked += 200) {
    const answers = await Promise.all(
      times(Math.min(200, VETTED_POOLS_MAX + 20 - asked), (nth) => ask(`h${asked + nth}.example`)),
    )
    t.same(new Set(answers), new Set(['answered']))
  }
  t.equal(target.connections, VETTED_POOLS_MAX + 20)
  await until(() => target.open <= VETTED_POOLS_MAX)
})

t.test('idle sockets of other hosts are closed before the sockets run out', async (t) => {
  const rig = await rigged(t)
  const { target } = rig
  const ask = asker(rig)
  const hosts = 9
  for (const round of ['a', 'b', 'c']) {
    const held: (() => void)[] = []
    target.answer((_req, res) => void held.push(() => res.end()))
    const asked = times(hosts * VETTED_CONNECTIONS_MAX, (nth) => ask(`${round}${nth % hosts}.example`))
    await until(() => held.length === asked.length)
    // By the kernel: the target learns of a connection's end some turns later.
    const sockets = callingPortsOf(process.pid, target.port).size
    t.ok(sockets <= VETTED_SOCKETS_MAX, `${sockets} sockets`)
    for (const release of held) release()
    t.same(new Set(await Promise.all(asked)), new Set(['answered']))
  }
})

t.test(
  'an idle connection is closed soon, and before its pool, even when the server would keep it for minutes',
  async (t) => {
    const rig = await rigged(t)
    const { target } = rig
    const ask = asker(rig)
    target.answer((_req, res) => void res.writeHead(200, { 'keep-alive': 'timeout=600' }).end())
    t.equal(await ask('one.example'), 'answered')
    const cutByServerMs = 5_000
    t.ok(VETTED_KEEP_ALIVE_MS < cutByServerMs && VETTED_KEEP_ALIVE_MS < VETTED_IDLE_MS)
    await until(() => target.open === 0)
  },
)

t.test('names that never resolve hold few lookups, and no caller waits long for a lookup', async (t) => {
  let running = 0
  const { egress } = await rigged(t, { resolve: () => (running++, new Promise(() => undefined)) })
  const check = async (nth: number): Promise<string> => {
    const origin = egress.vetted({ host: `slow${nth}.example`, port: null, purpose: 'callback' })
    return nameOf(origin.ok ? await origin.value.check() : origin)
  }
  stopTime(t)
  const asked = times(LOOKUPS_MAX + LOOKUPS_WAITING_MAX, check)
  t.equal(await soon([check(1_000)]), 'busy')
  const shared = check(0)
  mock.timers.tick(LOOKUP_MS_MAX - 1)
  t.equal(await soon([...asked, shared]), 'nothing yet')
  mock.timers.tick(1)
  t.not(await soon([Promise.all([...asked, shared])]), 'nothing yet', 'no wait goes on')
  mock.timers.tick(LOOKUP_MS_MAX)
  const names = await Promise.all(asked)
  t.equal(await shared, 'upstream_failed')
  t.equal(running, LOOKUPS_MAX, 'who asks for a name that is being asked for shares the answer')
  t.equal(names.filter((name) => name === 'upstream_failed').length, LOOKUPS_MAX)
  t.equal(names.filter((name) => name === 'busy').length, LOOKUPS_WAITING_MAX)
})

t.test('names that never resolve use up the lookups of their own workspace only', async (t) => {
  stopTime(t)
  const hung: (() => void)[] = []
  const { egress } = await rigged(t, {
    resolve: (name) =>
      name.startsWith('slow')
        ? new Promise((found) => hung.push(() => found(['127.0.0.1'])))
        : Promise.resolve(['127.0.0.1']),
  })
  const check = async (host: string, workspaceId: string): Promise<string> => {
    const origin = egress.vetted({ host, port: null, purpose: 'caller', workspaceId })
    return nameOf(origin.ok ? await origin.value.check() : origin)
  }
  const names = [
    ...times(WORKSPACE_LOOKUPS_MAX + WORKSPACE_LOOKUPS_WAITING_MAX - 1, (nth) => `slow${nth}.example`),
    'slow-both.example',
  ]
  const asked = names.map((name) => check(name, 'one'))
  t.equal(await soon([check('one-more.example', 'one')]), 'busy')
  t.equal(hung.length, WORKSPACE_LOOKUPS_MAX)
  t.equal(await soon([check('quick.example', 'other')]), 'answered')
  const both = check('slow-both.example', 'other')
  t.equal(hung.length, WORKSPACE_LOOKUPS_MAX + 1, 'nor those of a name that waits')
  for (let reported = 0; reported < asked.length + 1; reported++) {
    await untilTurned('the next lookup begins', () => hung.length > reported)
    hung[reported]?.()
  }
  t.same(
    new Set(await Promise.all([...asked, both])),
    new Set(['answered']),
    'and those that waited have their turn',
  )
})

t.test(
  'answers that hosts of callers announce and never send take no room from answers of providers',
  async (t) => {
    const { egress, target, origin } = await rigged(t)
    target.answer(
      (_req, res) => void res.writeHead(200, { 'content-length': UPSTREAM_ANSWER_BYTES_MAX }).flushHeaders(),
    )
    const call = new AbortController()
    const asked = times(4, () =>
      origin().call(
        request({
          call,
          mayCutSent: true,
          mayRepeat: false,
          answerBytesMax: UPSTREAM_ANSWER_BYTES_MAX,
        }),
      ),
    )
    await until(
      () => target.connections === asked.length && egress.load.heldBytes === VETTED_ANSWERS_BYTES_MAX,
    )
    const room = egress.hold(UPSTREAM_ANSWERS_BYTES_MAX, callerBy('k'))
    t.ok(room)
    room?.give()
    call.abort()
    await Promise.all(asked)
    await until(() => egress.load.heldBytes === 0)
  },
)
