import { once } from 'node:events'
import t, { type Test } from 'tap'
import { fail } from '../../../src/schemas/failures.ts'
import type { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import type { Call, Operation } from '../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation } from '../../support/front.ts'
import { gate } from '../../support/gate.ts'
import { rawClient, requestText } from '../../support/wire/raw-http.ts'
import { pause, until } from '../../support/wait.ts'

const body = '{"model":"m","input":"x"}'
const valid =
  requestText('POST /api/v1/echo', { authorization: AUTHORIZATION, 'content-length': String(body.length) }) +
  body
/** Milliseconds that no test takes. */
const LONG_MS = 3_600_000
const front = (t: Test, run: Operation['run']) => openFront(t, [operation({ run, deadlineMs: LONG_MS })])
const fine = { ok: true, value: { kind: 'json', value: 'done' } } as const

t.test('a drain waits for calls in flight, then ends the ones that still run with 503', async (t) => {
  const began = gate()
  const seen: string[] = []
  const { port, front: http } = await front(
    t,
    (call: Call) =>
      new Promise(() => {
        call.signal.addEventListener('abort', () => seen.push((call.signal.reason as CallEnded).why))
        began.open()
      }),
  )
  const client = rawClient(port)
  client.send(valid)
  await began.opened
  await http.drain(50)
  t.match(
    await client.closed(),
    /^HTTP\/1\.1 503 Service Unavailable[\s\S]*connection: close[\s\S]*draining/i,
  )
  t.same(seen, ['drain'])
})

t.test('a drain lets calls in flight finish', async (t) => {
  const began = gate()
  const ended = gate()
  const { port, front: http } = await front(t, async () => {
    began.open()
    await ended.opened
    return fine
  })
  const client = rawClient(port)
  client.send(valid)
  await began.opened
  const drained = http.drain(10_000)
  ended.open()
  await drained
  t.match(await client.closed(), /^HTTP\/1\.1 200 OK[\s\S]*"done"$/)
})

t.test('a connection kept open in a drain gets one more answer, with connection: close', async (t) => {
  const [began, ended] = [gate(), gate()]
  const { port, front: http } = await front(t, async () => {
    began.open()
    await ended.opened
    return fine
  })
  const client = rawClient(port)
  client.send(valid)
  await began.opened
  const idle = rawClient(port)
  await until(() => http.connections.open === 2)
  const drained = http.drain(600_000, 600_000)
  ended.open()
  await client.closed()
  idle.send(valid)
  t.match(await idle.closed(), /^HTTP\/1\.1 200 OK[\s\S]*connection: close[\s\S]*"done"$/i)
  await drained
})

t.test('a drain without connections does not wait for any', async (t) => {
  const { front: http } = await front(t, () => Promise.resolve(fine))
  await http.drain(600_000, 600_000)
  t.equal(http.connections.open, 0)
})

t.test('a later drain can shorten the time of the first. D34', async (t) => {
  const began = gate()
  const { port, front: http } = await front(t, async (call) => {
    began.open()
    await once(call.signal, 'abort')
    return fail('draining')
  })
  const client = rawClient(port)
  client.send(valid)
  await began.opened
  const drained = http.drain(600_000)
  await http.drain(0)
  await drained
  t.match(await client.closed(), /^HTTP\/1\.1 503 /)
})

t.test(
  'connections stay open for the idle time of a drain after its last call, not after its begin',
  async (t) => {
    const [began, ended] = [gate(), gate()]
    const { port, front: http } = await front(t, async () => {
      began.open()
      await ended.opened
      return fine
    })
    const client = rawClient(port)
    client.send(valid)
    await began.opened
    const idle = rawClient(port)
    await until(() => http.connections.open === 2)
    const idleMs = LONG_MS / 10
    const drained = http.drain(LONG_MS, idleMs)
    passTime(t, 2 * idleMs)
    await pause(DRAIN_LOOKS_MS)
    ended.open()
    await client.closed()
    await pause(LAST_LOOK_MS)
    idle.send(valid)
    t.match(await idle.closed(), /^HTTP\/1\.1 200 OK[\s\S]*connection: close[\s\S]*"done"$/i)
    await drained
  },
)

t.test('a call that arrives after the time of a drain is over gets 503, and does not run', async (t) => {
  let runs = 0
  const { port, front: http } = await front(t, () => (runs++, fine))
  const idle = rawClient(port)
  await until(() => http.connections.open === 1)
  const drained = http.drain(0)
  idle.send(valid)
  // A machine that stands still meanwhile has closed the connection.
  t.match(await idle.closed(), /^(?:HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*"draining"|$)/i)
  t.equal(runs, 0)
  await drained
})

t.test('a call that arrives at the last check of a drain gets 503 draining', async (t) => {
  let runs = 0
  const { port, front: http } = await front(t, () => (runs++, new Promise(() => undefined)))
  const idle = rawClient(port)
  await until(() => http.connections.open === 1)
  const drained = http.drain(LONG_MS)
  idle.send(valid)
  await until(() => runs === 1 || idle.isClosed)
  passTime(t, 2 * LONG_MS)
  // A machine that stands still meanwhile has closed the connection before the call.
  t.match(await idle.closed(), runs === 1 ? /^HTTP\/1\.1 503 [\s\S]*"draining"/ : /^$/)
  await drained
})

/** Sets the monotonic clock forward until the end of the test. */
function passTime(t: Test, ms: number): void {
  const { now } = performance
  performance.now = () => now.call(performance) + ms
  t.teardown(() => (performance.now = now))
}

/** Milliseconds in which a drain looks at its front, and after which one that waits no longer has closed it. */
const DRAIN_LOOKS_MS = 100
const LAST_LOOK_MS = 400
