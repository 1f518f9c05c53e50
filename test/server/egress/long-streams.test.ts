/** The bytes of long calls: how they are read, and what providers do to them. D12, D17. */
import { createServer, type AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import {
  UPSTREAM_HEADERS_BYTES_MAX,
  UPSTREAM_STREAM_BYTES_MAX,
} from '../../../src/schemas/models/provider-limits.ts'
import { ok } from '../../../src/schemas/failures.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { NO_BREAKAGE } from '../../../src/server/egress/handler.ts'
import { StreamAttempt, type StreamHome } from '../../../src/server/egress/stream.ts'
import type { EgressExchange, EgressExchangeRequest } from '../../../src/server/ports/egress/egress.ts'
import { chatRequest, openLongCalls } from '../../support/egress/long-call-rig.ts'
import { textOf } from '../../support/egress/vetted-stand.ts'
import { answersChat, chatEvents } from '../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../support/inference/fake-provider.ts'
import { bodyOf, Steps, streams } from '../../support/inference/fake-stream.ts'
import { must, present } from '../../support/must.ts'
import { pause, until } from '../../support/wait.ts'
import { UPSTREAM_EVENTS_BYTES_MAX } from '../../../src/server/upstream/link.ts'

const STALL_MS = 40

const HOME: StreamHome = {
  budget: new AnswerBudget(0),
  repeatStream: () => undefined,
  streamEnded: () => undefined,
}

interface Begun {
  readonly attempt: StreamAttempt
  /** Cuts of the connection, and times that it was read again after a pause. */
  readonly seen: { cuts: number; resumes: number }
}

/** A stream whose head has come, without a socket; the test is its parser. */
function begun(more: Partial<EgressExchangeRequest> = {}): Begun {
  const seen = { cuts: 0, resumes: 0 }
  const attempt = new StreamAttempt(chatRequest({ stallMs: STALL_MS, ...more }), HOME, () => undefined)
  attempt.onConnect({
    isLent: false,
    cut: () => void seen.cuts++,
    resume: () => void seen.resumes++,
  })
  attempt.onResponseStarted()
  attempt.onHead({ status: 200, contentLength: -1, contentEncoding: '', retryAfter: null, list: () => [] })
  return { attempt, seen }
}

/** Lets everything run that the turn of the loop holds, and nothing of the next one. */
async function restOfTurn(): Promise<void> {
  for (let nth = 0; nth < 10; nth++) await Promise.resolve()
}

t.test('one read of the socket yields one piece, in the same turn', async (t) => {
  const { attempt } = begun()
  let isNextTurn = false
  setImmediate(() => (isNextTurn = true))
  const waiting = attempt.next()
  for (const chunk of ['data: a', '\n\n', 'data: b\n\n']) attempt.onData(Buffer.from(chunk))
  t.same(await waiting, ok(Buffer.from('data: a\n\ndata: b\n\n')))
  t.notOk(isNextTurn)
  attempt.onData(Buffer.from('c'))
  await restOfTurn()
  attempt.onData(Buffer.from('d'))
  attempt.onData(Buffer.from('e'))
  attempt.onComplete()
  const rest = [await attempt.next(), await attempt.next(), await attempt.next()]
  t.same(rest, [ok(Buffer.from('c')), ok(Buffer.from('de')), ok(null)])
  t.notOk(isNextTurn)
})

t.test('bytes that arrive in the same read as the end or a break are delivered before it', async (t) => {
  const { attempt: whole } = begun()
  const waiting = whole.next()
  whole.onData(Buffer.from('a'))
  whole.onComplete()
  t.same([await waiting, await whole.next()], [ok(Buffer.from('a')), ok(null)])
  const { attempt: broken } = begun()
  const last = broken.next()
  broken.onData(Buffer.from('a'))
  broken.onError(new Error('reset'), NO_BREAKAGE)
  t.same(await last, ok(Buffer.from('a')))
  t.match(await broken.next(), { ok: false, failure: { name: 'upstream_failed' } })
})

for (const [bound, more] of [
  [UPSTREAM_EVENTS_BYTES_MAX, { aheadBytesMax: UPSTREAM_EVENTS_BYTES_MAX }],
  [UPSTREAM_STREAM_BYTES_MAX, {}],
] as const) {
  t.test(`at ${bound} waiting bytes the socket is paused until half of them are read`, async (t) => {
    const { attempt, seen } = begun(more)
    const quarter = Buffer.alloc(bound / 4)
    for (const isReadOn of [true, true, true, false]) {
      t.equal(attempt.onData(quarter), isReadOn)
      await restOfTurn()
    }
    must(await attempt.next())
    t.equal(seen.resumes, 0)
    must(await attempt.next())
    t.equal(seen.resumes, 1)
    must(await attempt.next())
    t.equal(seen.resumes, 1, 'once')
  })
}

t.test(
  'a piece above the limit that is given to a waiting reader does not pause the socket, the next piece does',
  async (t) => {
    const { attempt, seen } = begun({ aheadBytesMax: 4 })
    const waiting = attempt.next()
    t.ok(attempt.onData(Buffer.from('abcdefgh')))
    t.same(await waiting, ok(Buffer.from('abcdefgh')))
    t.notOk(attempt.onData(Buffer.from('abcd')))
    await restOfTurn()
    t.same(await attempt.next(), ok(Buffer.from('abcd')))
    t.equal(seen.resumes, 1)
  },
)

t.test('a stall is timed only while the reader waits', async (t) => {
  const { attempt, seen } = begun()
  for (const isThere of [false, true]) {
    if (isThere) attempt.onData(Buffer.from('a'))
    // The caller does not read: the clock of the stall runs out and ends nothing.
    await pause(2 * STALL_MS)
    const waiting = attempt.next()
    if (!isThere) attempt.onData(Buffer.from('a'))
    t.same(await waiting, ok(Buffer.from('a')))
  }
  t.equal(seen.cuts, 0)
  // The timer alone keeps no process alive.
  const alive = setInterval(() => undefined, STALL_MS)
  t.teardown(() => clearInterval(alive))
  const since = performance.now()
  t.match(await attempt.next(), { ok: false, failure: { name: 'upstream_slow' } })
  t.ok(performance.now() - since >= STALL_MS - 1, 'the clock begins with the wait')
  t.equal(seen.cuts, 1, 'and the connection is cut')
})

t.test(
  'also over a socket, chunks of one write are one piece, and each event arrives before the next is sent',
  async (t) => {
    const rig = await openLongCalls(t)
    const steps = new Steps()
    rig.provider.script(answersChat({ words: ['a', 'b', 'c'] }, { steps }))
    const { body } = must(await rig.exchange())
    const expected = chatEvents(present(rig.provider.calls[0]), { words: ['a', 'b', 'c'] })
    for (const { data } of expected) {
      const waiting = body.next()
      steps.allow()
      t.equal(textIn(must(await waiting)), `data: ${data}\n\n`)
    }
    steps.allow()
    t.equal(must(await body.next()), null)
    rig.provider.script(async (_call, reply) => {
      await reply.head(200, {})
      await steps.next()
      await reply.raw('2\r\na\n\r\n3\r\nb\n\n\r\n1\r\nc\r\n')
      await reply.end()
    })
    const second = must(await rig.exchange())
    steps.allow()
    t.equal(textIn(must(await second.body.next())), 'a\nb\n\nc')
  },
)

t.test('a body that is cut anywhere is reported as broken, after the bytes before the cut', async (t) => {
  const rig = await openLongCalls(t)
  const steps = new Steps()
  const events = [{ data: 'one' }, { data: 'two' }]
  const all = bodyOf(events).length
  for (const ending of ['fin', 'rst'] as const)
    for (let cutAt = 0; cutAt <= all; cutAt += 3) {
      rig.provider.script(streams(events, { cutAt, ending, steps, isMerged: true }))
      const { body } = must(await rig.exchange())
      if (cutAt > 0) {
        steps.allow()
        t.equal(must(await body.next())?.length, cutAt)
      }
      steps.allow()
      t.match(await body.next(), { ok: false, failure: { name: 'upstream_failed' } })
    }
  await rig.rest()
})

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n`

/** Writes these bytes, and ends the connection unless it stays. */
function says(text: string, stays = false): FakeAnswer {
  return async (call, reply) => {
    await reply.raw(text)
    if (stays) return call.closed
    reply.fin()
  }
}

for (const [what, text, is] of [
  ['that ends inside a chunk', `${CHUNKED}\r\n5\r\nab`, 'upstream_failed'],
  ['that ends between two chunks', `${CHUNKED}\r\n2\r\nab\r\n`, 'upstream_failed'],
  ['with a chunk of no size', `${CHUNKED}\r\n2\r\nab\r\nzz\r\n`, 'upstream_failed'],
  ['with a chunk of endless size', `${CHUNKED}\r\nfffffffffffffffffff\r\nab`, 'upstream_failed'],
  ['with a chunk that is longer than it says', `${CHUNKED}\r\n1\r\nabc\r\n0\r\n\r\n`, 'upstream_failed'],
  ['that is shorter than it says', `${HEAD}content-length: 9\r\n\r\nab`, 'upstream_failed'],
  ['with two framings', `${CHUNKED}content-length: 2\r\n\r\n2\r\nab\r\n0\r\n\r\n`, 'upstream_failed'],
  ['that is not HTTP', 'data: a\n\n', 'upstream_failed'],
  ['that ends before its head', `${HEAD}x: y\r\n`, 'upstream_failed'],
  [
    'that says to go on',
    `HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 2\r\n\r\nab`,
    'upstream_failed',
  ],
  ['with hints', `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${HEAD}content-length: 2\r\n\r\nab`, 'ab'],
  ['with trailers', `${CHUNKED}\r\n2\r\nab\r\n0\r\nx-end: 1\r\n\r\n`, 'ab'],
  ['that ends with its connection', `${HEAD}connection: close\r\n\r\nab`, 'ab'],
] as const) {
  t.test(`a response ${what} is read as ${is} by either client, and its place is freed`, async (t) => {
    for (const isLean of [true, false]) {
      const rig = await openLongCalls(t, { isLean })
      rig.provider.script(says(text))
      t.equal(await textOf(await rig.exchange()), is)
      await rig.rest()
      t.match(await textOf(await rig.exchange()), /\[DONE\]/, 'and the next call is whole')
    }
  })
}

t.test('bytes beyond the length of a response do not reach a later call', async (t) => {
  const rig = await openLongCalls(t)
  const more = `${HEAD}content-length: 6\r\n\r\nforged`
  rig.provider.script(says(`${HEAD}content-length: 2\r\n\r\nab${more}`, true))
  t.equal(await textOf(await rig.exchange()), 'ab')
  t.match(await textOf(await rig.exchange()), /\[DONE\]/)
  t.equal(rig.provider.calls[1]?.connection, 1)
})

t.test('headers may have at most 32 KiB', async (t) => {
  const rig = await openLongCalls(t)
  const fits = 'y'.repeat(UPSTREAM_HEADERS_BYTES_MAX - 200)
  rig.provider.script(answersChat({}, { headers: { 'x-long': fits } }))
  const outcome = await rig.exchange()
  t.equal(must<EgressExchange>(outcome).header('x-long'), fits)
  await textOf(outcome)
  for (const value of ['y'.repeat(UPSTREAM_HEADERS_BYTES_MAX), 'y'.repeat(10 * UPSTREAM_HEADERS_BYTES_MAX)]) {
    rig.provider.script(answersChat({}, { headers: { 'x-long': value } }))
    t.equal(await textOf(await rig.exchange()), 'upstream_failed')
  }
  rig.provider.script(answersChat({}, { trailers: `x-long: ${'y'.repeat(UPSTREAM_HEADERS_BYTES_MAX)}\r\n` }))
  t.equal(await textOf(await rig.exchange()), 'upstream_failed')
  await rig.rest()
})

t.test('a provider that stalls before its head or within it is slow, and its connection ends', async (t) => {
  const rig = await openLongCalls(t)
  for (const text of ['', HEAD, `${CHUNKED}\r\n2\r\na`]) {
    rig.provider.script(says(text, true))
    const soon = performance.now() + 100
    t.equal(await textOf(await rig.exchange({ beginsBy: () => soon, stallMs: 30 })), 'upstream_slow')
  }
  await rig.rest()
  await until(() => rig.provider.connections.open === 0)
})

t.test(
  'a provider that breaks or answers while a large body is being sent ends only that call',
  async (t) => {
    const rig = await openLongCalls(t)
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const body = Array.from({ length: 20 }, () => piece)
    for (const [text, is] of [
      ['', 'upstream_failed'],
      ['HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nearly', 'early'],
    ] as const) {
      const early = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => (text === '' ? socket.resetAndDestroy() : socket.write(text)))
        t.teardown(() => socket.destroy())
      })
      await new Promise<void>((listening) => early.listen(0, '127.0.0.1', listening))
      t.teardown(() => early.close())
      const { port } = early.address() as AddressInfo
      const origin = rig.egress.trusted(`http://127.0.0.1:${port}`)
      t.equal(await textOf(await origin.exchange(chatRequest({ body }))), is)
    }
    await rig.rest()
  },
)

t.test('a head that cannot be written into a request is header_invalid, and nothing is sent', async (t) => {
  const rig = await openLongCalls(t)
  for (const more of [{ path: 'http://127.0.0.2/x' }, { path: '/a b' }, { headers: ['x', 'a\r\nb: c'] }])
    t.equal(await textOf(await rig.exchange(more)), 'header_invalid')
  await rig.rest()
  t.equal(rig.provider.calls.length, 0)
})

function textIn(piece: Uint8Array | null): string {
  return Buffer.from(piece ?? []).toString()
}

t.test('no memory holds a request while its response streams', async (t) => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const { exchange, provider } = await openLongCalls(t, {}, streams([], { ending: 'silent' }))
  const buffers: WeakRef<ArrayBufferLike>[] = []
  const body = (): readonly Uint8Array[] => {
    const pieces = [300_000, 100, 20_000].map((bytes) => Buffer.alloc(bytes, 'x'))
    buffers.push(...pieces.map(({ buffer }) => new WeakRef(buffer)))
    return pieces
  }
  const exchanged = must(await exchange({ body: body() }))
  t.equal((await provider.arrived(0)).body.length, 320_100)
  await until('all of it is free', () => {
    gc()
    return buffers.every((buffer) => buffer.deref() === undefined)
  })
  exchanged.body.close()
})
