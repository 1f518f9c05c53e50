/** The memory of a call whose client leaves or reads slowly, and its release after the last use. */
import { once } from 'node:events'
import t from 'tap'
import type { ExchangeHost } from '../../../../src/server/http/exchange-deps.ts'
import { Exchange } from '../../../../src/server/http/exchange.ts'
import { ReadEnd } from '../../../../src/server/http/body/socket-reading.ts'
import { SwapList } from '../../../../src/server/structures/swap-list.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import type { WireResponse } from '../../../../src/server/http/reply/wire.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { AUTHORIZATION, openFront, operation, threads } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { answers } from '../../../support/embeddings/provider-behaviours.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import { BodyBudget } from '../../../../src/server/http/body/body.ts'
import { UnreadAnswers } from '../../../../src/server/limits/loop-share.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }
const large = JSON.stringify({ model: 'acme/one', input: 'x'.repeat(MIB) })
const request = (path: string, text = large): string =>
  requestText(
    `POST /api/v1/${path}`,
    { authorization: AUTHORIZATION, 'content-length': String(text.length) },
    text,
  )
const turn = (): Promise<void> => new Promise(setImmediate)

t.test('a body that is still being sent to a provider counts although its client disconnected', async (t) => {
  const { port, first, front, untilSettled, settled } = await openEmbeddings(t)
  let answerNow: () => void = () => undefined
  first.script((exchange) => void (answerNow = () => answers()(exchange)))
  const client = rawClient(port)
  client.send(request('embeddings'))
  await first.arrived(1)
  const closed = once(client.socket, 'close')
  client.destroy()
  await closed
  for (let turns = 0; turns < 50; turns++) await turn()
  t.ok(front.load.bodyBytes > MIB, `${front.load.bodyBytes} bytes`)
  t.equal(settled.length, 0)
  answerNow()
  await untilSettled(1)
  t.same(front.load, NOTHING)
})

t.test('a body that a thread is reading counts although its client disconnected', async (t) => {
  const [began, ended] = [gate(), gate()]
  const jobs: ReturnType<typeof threads> = {
    here: (name, input) => threads().here(name, input),
    async run(name, input, more) {
      began.open()
      await ended.opened
      return threads().run(name, input, { ...more, signal: new AbortController().signal })
    },
  }
  const { port, front, untilSettled } = await openFront(t, [operation()], { jobs })
  const client = rawClient(port)
  client.send(request('echo'))
  await began.opened
  client.destroy()
  await untilSettled(1)
  t.ok(front.load.bodyBytes > MIB)
  ended.open()
  while (front.load.bodyBytes > 0) await turn()
  t.same(front.load, NOTHING)
})

t.test('an operation that ignores a disconnect keeps its body counted until it ends', async (t) => {
  const [began, ended] = [gate(), gate()]
  const run = async () => {
    began.open()
    await ended.opened
    return { ok: true, value: { kind: 'json', value: 1 } } as const
  }
  const { port, front, untilSettled } = await openFront(t, [operation({ run })])
  const client = rawClient(port)
  client.send(request('echo'))
  await began.opened
  client.destroy()
  await untilSettled(1)
  t.ok(front.load.bodyBytes > MIB)
  ended.open()
  while (front.load.bodyBytes > 0) await turn()
  t.same(front.load, NOTHING)
})

t.test('a slow reader of the answer keeps no memory of its request', async (t) => {
  const parts = [Buffer.alloc(16 * MIB, 'a')]
  let seen: Call | null = null
  const run = (call: Call) => {
    seen = call
    return { ok: true, value: { kind: 'bytes', parts, contentType: 'application/json' } } as const
  }
  const { port, front, untilSettled } = await openFront(t, [operation({ run })])
  const client = rawClient(port)
  client.socket.pause()
  client.send(request('echo'))
  while (seen === null) await turn()
  t.match(front.load, { calls: 1, bodyBytes: 0 })
  t.equal((seen as Call).body, undefined)
  client.destroy()
  await untilSettled(1)
  t.same(front.load, NOTHING)
})

/** An exchange whose client does what the test says. */
function exchangeOf(declared: number | null) {
  let leave = (): void => undefined
  const reported: string[] = []
  const pauses = { count: 0 }
  const res = {
    onAborted: (gone: () => void) => (leave = gone),
    onData: () => undefined,
    cork: (write: () => void) => write(),
    tryEnd: () => [false, false],
    getWriteOffset: () => 0,
    writeStatus: () => undefined,
    writeHeader: () => undefined,
    onWritable: () => undefined,
    pause: () => void pauses.count++,
    resume: () => undefined,
  } as unknown as WireResponse
  const timers = new Timers()
  const host: ExchangeHost = {
    timers,
    budget: new BodyBudget(MIB),
    unread: new UnreadAnswers(),
    random: () => 0.5,
    readEnd: new ReadEnd(),
    open: new SwapList<Exchange>(),
    isClosing: false,
    isOutOfTime: false,
  }
  const owner = {
    organizationId: null,
    expired: () => undefined,
    drained: () => undefined,
    broken: () => void reported.push('broken'),
    crashed: () => void reported.push('crashed'),
    settled: () => void reported.push('settled'),
  }
  const exchange = new Exchange(res, {
    owner,
    host,
    head: { method: 'post', declared, isLast: false, isExpecting: false },
  })
  return { exchange, reported, timers, pauses, leave: () => leave() }
}
const replyReported = (reported: string[]) => ({
  status: 413,
  statusLine: '413 Payload Too Large',
  headers: [],
  body: '{}',
  done: () => void reported.push('done'),
})

t.test('a reply whose refused body is discarded is released once when its client disconnects', async (t) => {
  const { exchange, reported, timers, leave } = exchangeOf(MIB)
  exchange.receive(0)
  exchange.send(replyReported(reported))
  leave()
  await turn()
  t.same(reported, ['done', 'settled'])
  t.equal(timers.count, 0)
})

t.test('a reply for the next turn is released once if its client disconnects first', async (t) => {
  const { exchange, reported, leave } = exchangeOf(null)
  exchange.send(replyReported(reported))
  leave()
  await turn()
  t.same(reported, ['done', 'settled'])
})

t.test('a call that is answered by promises of its own turn does not pause reading', async (t) => {
  const { exchange, pauses } = exchangeOf(0)
  exchange.awaitAnswer()
  exchange.afterRead(() => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => exchange.send(replyReported([])))
  })
  await turn()
  await turn()
  t.equal(exchange.status, 413)
  t.equal(pauses.count, 0)
})

t.test('a call not answered in its turn pauses reading before the event loop polls again', async (t) => {
  const { exchange, pauses } = exchangeOf(0)
  const polled = new Promise<number>((resolve) => {
    exchange.afterRead(() => {
      // Runs after the next poll.
      setImmediate(() => resolve(pauses.count))
      exchange.awaitAnswer()
    })
  })
  t.equal(await polled, 1)
})
