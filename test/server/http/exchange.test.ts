import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import { DEADLINE_GRACE_MS } from '../../../src/schemas/limits/limits.ts'
import type { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import type { Call, Operation } from '../../../src/server/operations/define.ts'
import { accessTo, AUTHORIZATION, hurried, keyRecords, openFront, operation } from '../../support/front.ts'
import { movedTimers } from '../../support/moved-timers.ts'
import { rawClient, requestText } from '../../support/wire/raw-http.ts'
import { pause, until } from '../../support/wait.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }
const body = '{"model":"m","input":"x"}'
const head = (bytes = body.length): string =>
  requestText('POST /api/v1/echo', { authorization: AUTHORIZATION, 'content-length': String(bytes) })
const valid = head() + body

interface Gate {
  readonly opened: Promise<void>
  open(): void
}
function gate(): Gate {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

const front = (t: Test, run: Operation['run'], more: Partial<HttpOptions> = {}, deadlineMs = 10_000) =>
  openFront(t, [operation({ run, deadlineMs })], more)
const fine = { ok: true, value: { kind: 'json', value: 'done' } } as const

t.test('a call whose client disconnects during the key load settles once, and does not run', async (t) => {
  const loading = gate()
  const loaded = gate()
  const access = accessTo(keyRecords(), () => {
    loading.open()
    return loaded.opened
  })
  let runs = 0
  const read = operation({ method: 'get', path: '/read', input: {}, run: () => (runs++, fine) })
  const { port, settled, untilSettled, front: http } = await openFront(t, [read], { access })
  const client = rawClient(port)
  client.send(requestText('GET /api/v1/read', { authorization: AUTHORIZATION }))
  await loading.opened
  client.destroy()
  await untilSettled(1)
  loaded.open()
  await pause(20)
  t.match(settled, [{ isClientGone: true, failure: 'client_gone', status: 0 }])
  t.equal(settled.length, 1)
  t.equal(runs, 0)
  t.same(http.load, NOTHING)
})

t.test(
  'a call whose client disconnects in the middle of its body settles once, and its bytes are released',
  async (t) => {
    const { port, settled, untilSettled, front: http } = await front(t, () => fine)
    const client = rawClient(port)
    client.send(head(10 * MIB))
    client.send('x'.repeat(2 * MIB))
    await until(() => http.load.bodyBytes !== 0)
    client.destroy()
    await untilSettled(1)
    t.match(settled, [{ isClientGone: true, status: 0 }])
    t.same(http.load, NOTHING)
  },
)

const outliving = { id: 'test.write', path: '/write', outlivesClient: true }
for (const more of [outliving, { id: 'test.read', path: '/read', outlivesClient: false }]) {
  const title = more.outlivesClient ? 'a write settles when it ends' : 'a read is waited for no longer'
  t.test(`a client that disconnects during the operation aborts its signal; ${title}`, async (t) => {
    const [began, reported, ended] = [gate(), gate(), gate()]
    const run = async (call: Call) => {
      call.signal.addEventListener('abort', () => reported.open())
      began.open()
      await ended.opened
      call.notes.costUsd = 5
      return fine
    }
    const served = await openFront(t, [operation({ ...more, run })])
    const client = rawClient(served.port)
    client.send(valid.replace('/echo', more.path))
    await began.opened
    client.destroy()
    await reported.opened
    t.equal(served.settled.length, more.outlivesClient ? 0 : 1)
    ended.open()
    await served.untilSettled(1)
    t.match(served.settled, [{ isClientGone: true, failure: 'client_gone', notes: { costUsd: 5 } }])
    // An operation that works on its body keeps the bytes until it ends.
    while (served.front.load.bodyBytes > 0) await new Promise(setImmediate)
    t.same(served.front.load, NOTHING)
  })
}

t.test('an operation that misses its deadline is aborted, and its own answer is sent', async (t) => {
  const { port, front: http } = await front(
    t,
    (call: Call) =>
      new Promise((resolve) => {
        call.signal.addEventListener('abort', () =>
          resolve({
            ok: false,
            failure: { name: 'deadline_exceeded', detail: (call.signal.reason as CallEnded).why },
          }),
        )
      }),
    {},
    60,
  )
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(valid)
  t.match(await client.until(/\}$/), /^HTTP\/1\.1 504 Gateway Timeout[\s\S]*deadline\./)
  t.same(http.load, NOTHING)
})

t.test('the time in which the body arrives does not count against the operation', async (t) => {
  // Over whenever the test lets time pass: a turn of the wheel takes longer.
  const deadlineMs = 1
  const { timers, pass } = movedTimers()
  const { port, front: http } = await front(t, () => fine, { timers }, deadlineMs)
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(head())
  await until(() => http.load.calls === 1)
  for (const part of [body.slice(0, 9), body.slice(9, 15), body.slice(15)]) {
    await pass(deadlineMs)
    await pass(DEADLINE_GRACE_MS)
    client.send(part)
  }
  t.match(await client.until(/["}]$/), /^HTTP\/1\.1 200 /)
})

t.test(
  'an operation that ignores its deadline gets an answer in its place, settles once, and its late answer is released',
  async (t) => {
    const late = gate()
    let returned = 0
    const {
      port,
      settled,
      front: http,
      untilSettled,
    } = await front(
      t,
      async () => {
        await late.opened
        return {
          ok: true,
          value: { kind: 'bytes', parts: [], contentType: 'application/json', done: () => void returned++ },
        }
      },
      {},
      500,
    )
    const client = rawClient(port)
    t.teardown(() => client.destroy())
    client.send(valid)
    t.match(await client.until(/\}$/), /^HTTP\/1\.1 504 /)
    await untilSettled(1)
    late.open()
    await until(() => returned !== 0)
    t.match(settled, [{ status: 504, failure: 'deadline_exceeded', isClientGone: false }])
    t.equal(settled.length, 1)
    t.same(http.load, NOTHING)
  },
)

const parts = Array.from({ length: 7 }, (_, part) => Buffer.alloc(MIB + part, String(part)))
const PARTS_BYTES = 7 * MIB + 21
const fewParts = parts.slice(0, 2).map((part) => part.subarray(0, 300_000))
t.test('a large answer reaches a slow reader whole, and its memory is released once', async (t) => {
  let returned = 0
  const {
    port,
    untilSettled,
    front: http,
  } = await front(t, () => ({
    ok: true,
    value: { kind: 'bytes', parts, contentType: 'application/json', done: () => void returned++ },
  }))
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.socket.pause()
  client.send(valid)
  for (let i = 0; i < 20; i++) {
    await pause(5)
    client.socket.resume()
    await pause(1)
    client.socket.pause()
  }
  client.socket.resume()
  await client.untilBody(PARTS_BYTES)
  await untilSettled(1)
  const sent = client.text.slice(client.text.indexOf('\r\n\r\n') + 4)
  t.ok(sent === Buffer.concat(parts).toString('latin1'), 'the same bytes')
  t.equal(returned, 1)
  t.same(http.load, NOTHING)
})

t.test('small parts are sent as one answer', async (t) => {
  const { port } = await front(t, () => ({
    ok: true,
    value: {
      kind: 'bytes',
      parts: [Buffer.from('{"a":'), Buffer.from('1}')],
      contentType: 'application/json',
    },
  }))
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(valid)
  t.match(await client.until(/\}$/), /content-length: 7\r\n\r\n\{"a":1\}$/i)
})

t.test('a reader that disconnects in the middle of a large answer releases its memory', async (t) => {
  let returned = 0
  const {
    port,
    settled,
    untilSettled,
    front: http,
  } = await front(t, () => ({
    ok: true,
    value: { kind: 'bytes', parts, contentType: 'application/json', done: () => void returned++ },
  }))
  const client = rawClient(port)
  client.send(valid)
  await client.until(/0000/)
  client.destroy()
  await untilSettled(1)
  t.match(settled, [{ isClientGone: true, status: 200 }])
  t.equal(returned, 1)
  t.same(http.load, NOTHING)
})

t.test('a reader that reads nothing for a minute is disconnected', async (t) => {
  const { port, untilSettled, settled } = await front(
    t,
    () => ({ ok: true, value: { kind: 'bytes', parts, contentType: 'application/json' } }),
    { timers: hurried() },
  )
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.socket.pause()
  client.send(valid)
  await untilSettled(1)
  t.match(settled, [{ isClientGone: true }])
})

t.test('under random aborts every exchange settles exactly once and nothing remains', async (t) => {
  const access = accessTo(keyRecords())
  let begun = 0
  const counting = { ...access, authenticate: (header: string) => (begun++, access.authenticate(header)) }
  const {
    port,
    settled,
    front: http,
  } = await front(
    t,
    async (call: Call) => {
      const { length } = (call.body as { input: { length?: number } }).input
      if (length !== undefined && length % 3 === 0) await pause(length % 7)
      // An input that came as bytes has no length.
      return length === undefined || length % 5 > 0
        ? fine
        : { ok: true, value: { kind: 'bytes', parts: fewParts, contentType: 'application/json' } }
    },
    { access: counting },
  )
  const cut = fc.double({ min: 0, max: 1, noNaN: true })
  const plan = fc.record({
    chars: fc.nat(40),
    isLarge: fc.boolean(),
    cut,
    wait: fc.nat(12),
    leaves: fc.boolean(),
  })
  const run = async ({
    chars,
    isLarge,
    cut,
    wait,
    leaves,
  }: typeof plan extends fc.Arbitrary<infer P> ? P : never): Promise<void> => {
    const json = JSON.stringify({ model: 'm', input: 'x'.repeat(1 + chars + (isLarge ? 400_000 : 0)) })
    const isPlain = isLarge || (1 + chars) % 5 > 0
    const first = head(json.length)
    const client = rawClient(port)
    const at = first.length + Math.floor(json.length * cut)
    client.send((first + json).slice(0, at))
    await pause(wait)
    if (!leaves) {
      client.send((first + json).slice(at))
      await client.untilBody(isPlain ? 6 : 600_000)
    }
    client.destroy()
  }
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 12 }), async (plans) => {
      await Promise.all(plans.map(run))
      await until(() => http.load.calls === 0)
      return settled.length === begun && http.load.timers === 0 && http.load.bodyBytes === 0
    }),
    { numRuns: 30 },
  )
  t.equal(new Set(settled.map((call) => call.requestId)).size, begun, 'no call settled twice')
  t.ok(settled.some((call) => call.isClientGone) && settled.some((call) => !call.isClientGone))
})
