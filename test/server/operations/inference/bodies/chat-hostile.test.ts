/** Hostile providers: their cost to the front, and the answer of the caller. */
import t from 'tap'
import { STREAM_BYTES_MAX } from '../../../../../src/schemas/inference/stream-limits.ts'
import { Timers } from '../../../../../src/server/http/timers.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import { refusesChat } from '../../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'

const hello = { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'Hello there' }] }
const MIB = 2 ** 20
/** A busy machine may take its time: the connection is kept, and the head waits for an endpoint. */
const SLOW = { timers: new Timers(), streamHoldMs: 600_000 }
const EVENTS = { 'content-type': 'text/event-stream' }

/** Begins a stream with these bytes, and repeats the last of them until its connection is closed. */
function floods(begin: string, again: string): FakeAnswer {
  return async (call, reply) => {
    await reply.head(200, EVENTS)
    await reply.write(begin)
    while (!call.isClosed) await reply.write(again)
  }
}

t.test('an endless event exhausts the memory limit for answers, and another endpoint answers', async (t) => {
  const { post, first, rest, log } = await openChatProvider(t, { ...SLOW, egress: { answersBytesMax: MIB } })
  first.script(floods('data: {"choices":[{"index":0,"delta":{"content":"', 'x'.repeat(MIB / 16)))
  const response = await post(hello)
  t.equal(response.headers.get('x-sluice-provider'), 'second')
  t.match(await response.text(), /\[DONE\]/)
  const failed = log.events.find(({ event }) => event === 'upstream.attempt_failed')
  t.match(failed?.fields, { provider: 'first', failure: 'busy' })
  t.equal(await rest(), 0)
})

t.test('an endless series of comments or empty events is cut off, and nothing is charged', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await openChatProvider(t, { ...SLOW, spend })
  const role = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'
  for (const again of [': x\n'.repeat(MIB / 4), role.repeat(1_000), 'data\n\n'.repeat(MIB / 4)]) {
    first.script(floods(': begin\n', again))
    const response = await post(hello)
    t.equal(response.headers.get('x-sluice-provider'), 'second')
    t.match(await response.text(), /\[DONE\]/)
  }
  for (const { end } of spend.holds) t.match(end, { provider: 'second' })
  t.equal(await rest(), 0)
})

t.test('cuts an answer of more than STREAM_BYTES_MAX, reports that, and charges for it', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await openChatProvider(t, { ...SLOW, spend })
  const word = `data: {"choices":[{"index":0,"delta":{"content":"${'y'.repeat(MIB)}"}}]}\n\n`
  first.script(floods(word, word))
  const response = await post(hello)
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  let bytes = 0
  let last = ''
  await t.rejects(async () => {
    for await (const piece of response.body ?? []) {
      bytes += piece.length
      last = (last + Buffer.from(piece).toString('latin1')).slice(-1_000)
    }
  })
  t.ok(bytes > STREAM_BYTES_MAX / 2 && bytes < STREAM_BYTES_MAX + MIB)
  t.match(last, /"type":"upstream_too_large"/)
  t.match(spend.holds[0]?.end, { isEstimated: true, provider: 'first' })
  t.equal(await rest(), 0)
})

t.test('when an endpoint sends JSON or HTML instead of a stream, another endpoint answers', async (t) => {
  const { post, first } = await openChatProvider(t)
  for (const type of ['application/json', 'text/html']) {
    first.script(async (_call, reply) => {
      await reply.head(200, { 'content-type': type, 'content-length': '2' })
      await reply.write('{}')
    })
    const response = await post(hello)
    t.equal(response.headers.get('x-sluice-provider'), 'second', type)
    t.match(await response.text(), /\[DONE\]/)
  }
})

t.test('a prompt that a provider quotes appears in no log, and only shortened in the reply', async (t) => {
  const { post, first, log } = await openChatProvider(t)
  const prompt = 'CANARY words that stand in the request alone'
  const code = prompt.slice(0, 6)
  const error = { message: `Refused: ${prompt}`, code, status: 400 }
  const event = `data: ${JSON.stringify({ error })}\n\n`
  const word = 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
  const ends = (stream: string): FakeAnswer => {
    return async (_call, reply) => {
      await reply.head(200, EVENTS)
      await reply.write(stream)
      await reply.end()
    }
  }
  for (const [stream, answer] of [
    [true, refusesChat(400, error)],
    [false, refusesChat(400, error)],
    [true, ends(event)],
    [true, ends(word + event)],
  ] as const) {
    first.script(answer)
    const response = await post({ ...hello, stream, messages: [{ role: 'user', content: prompt }] })
    let reported = ''
    try {
      for await (const piece of response.body ?? []) reported += Buffer.from(piece).toString()
    } catch {
      t.match(reported, /"finish_reason":"error"/)
    }
    t.notMatch(reported, prompt.slice(0, 30))
    t.match(reported, /upstream_refused/)
  }
  t.equal(log.events.filter(({ event }) => event === 'upstream.attempt_failed').length, 4)
  t.notMatch(JSON.stringify(log.events), code)
})
