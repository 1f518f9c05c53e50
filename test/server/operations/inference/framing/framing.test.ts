/** Providers that answer in the form that was not asked for, or label it wrongly: callers get theirs. D14, D22. */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { UPSTREAM_WRITTEN_BYTES_MAX } from '../../../../../src/schemas/models/provider-limits.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import { answersChat, bodyOf, PROMPT_TOKENS, wholeJson } from '../../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../../support/inference/fake-messages.ts'
import type { FakeAnswer, FakeCall } from '../../../../support/inference/fake-provider.ts'
import { answersResponses } from '../../../../support/inference/fake-responses.ts'
import type { StreamPlan } from '../../../../support/inference/fake-stream.ts'
import { answersGemini } from '../../../../support/inference/gemini/fake-gemini.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

const COST = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9
const ANSWERS: Readonly<Record<TextProtocol, (plan: StreamPlan) => FakeAnswer>> = {
  chat: (plan) => answersChat({}, plan),
  responses: (plan) => answersResponses({}, plan),
  messages: (plan) => answersMessages({}, plan),
  gemini: (plan) => answersGemini({}, plan),
}
/** As a provider would get the call that asks for the other form. */
function swapped(call: FakeCall): FakeCall {
  const isGemini = call.path.includes('/models/')
  const { stream, ...body } = bodyOf(call)
  const isStream = isGemini ? call.path.includes('stream') : stream === true
  const asked = { ...body, stream: !isStream, stream_options: { include_usage: true } }
  const path = isStream
    ? call.path.replace(':streamGenerateContent?alt=sse', ':generateContent')
    : call.path.replace(':generateContent', ':streamGenerateContent?alt=sse')
  return {
    ...call,
    path,
    body: isGemini ? call.body : Buffer.from(JSON.stringify(asked)),
    get isClosed() {
      return call.isClosed
    },
    closed: call.closed,
  }
}
const inOtherForm =
  (protocol: TextProtocol, plan: StreamPlan = {}): FakeAnswer =>
  (call, reply) =>
    ANSWERS[protocol](plan)(swapped(call), reply)

const SAIDOnce: Readonly<Record<Dialect, (answer: never) => unknown>> = {
  chat: ({ choices: [choice] }: { choices: [{ message: { content: string } }] }) => choice.message.content,
  responses: ({ output: [item] }: { output: [{ content: [{ text: string }] }] }) => item.content[0].text,
  messages: ({ content: [block] }: { content: [{ text: string }] }) => block.text,
}
const ENDS: Readonly<Record<Dialect, RegExp>> = {
  chat: /data: \[DONE\]\n\n$/,
  responses: /event: response\.completed\ndata: .*\n\n$/,
  messages: /event: message_stop\ndata: .*\n\n$/,
}
const TYPES = ['application/json', 'text/html', 'text/event-stream', 'text/plain']

for (const protocol of TEXT_PROTOCOLS)
  t.test(
    `a provider that speaks ${protocol}: reads a whole answer where a stream was requested, and the reverse`,
    async (t) => {
      const { send, first, spend, rest } = await rigged(t, protocol)
      first.usually(inOtherForm(protocol))
      for (const dialect of DIALECTS) {
        const streamed = await send(dialect, { stream: true })
        const text = await streamed.text()
        t.equal(streamed.status, 200, text)
        t.equal(streamed.headers.get('content-type'), 'text/event-stream')
        t.match(text, ENDS[dialect])
        t.match(text, '"Hello there, you"')
        t.match(text, `"cost":${COST}`)
        const whole = await send(dialect)
        const answer = (await whole.json()) as { usage: object }
        t.equal(whole.status, 200, JSON.stringify(answer))
        t.equal(SAIDOnce[dialect](answer as never), 'Hello there, you')
        t.match(answer, { model: 'acme/one', usage: { cost: COST } })
      }
      t.equal(spend.holds.length, 2 * DIALECTS.length)
      for (const { end } of spend.holds) t.match(end, { costNano: COST * 1e9, isEstimated: false })
      t.equal(await rest(), 0)
    },
  )

for (const protocol of TEXT_PROTOCOLS)
  t.test(`a provider that speaks ${protocol}: ignores the content type of a stream`, async (t) => {
    const { send, first } = await rigged(t, protocol)
    for (const type of TYPES) {
      const headers = { 'content-type': type }
      first.script(ANSWERS[protocol]({ headers, hasMark: true }))
      const text = await (await send('messages', { stream: true })).text()
      t.match(text, ENDS.messages)
      t.match(text, '" there"', 'it is passed on as it comes')
    }
  })

t.test('reads a stream whose first bytes are split at any position', async (t) => {
  const { send, first } = await rigged(t, 'chat')
  for (const splitAt of [[1], [2], [3], [1, 2, 3, 4, 5]]) {
    first.script(answersChat({}, { headers: { 'content-type': 'application/json' }, hasMark: true, splitAt }))
    t.match(await (await send('chat', { stream: true })).text(), ENDS.chat)
  }
})

t.test('fallback models, `n` answers and a tool call are reframed natively', async (t) => {
  const { send, first } = await rigged(t, 'chat')
  const message = {
    role: 'assistant',
    content: null,
    reasoning_content: 'hm',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
  }
  const choices = [0, 1].map((index) => ({ index, message, finish_reason: 'tool_calls' }))
  const answer = { id: 'x', object: 'chat.completion', created: 17, model: 'm', choices }
  first.script(wholeJson(200, JSON.stringify(answer, null, 2)))
  const [chunk = ''] = (await (await send('chat', { stream: true, n: 2 })).text()).split('\n\n')
  t.match(JSON.parse(chunk.slice('data: '.length)), {
    object: 'chat.completion.chunk',
    created: 17,
    choices: choices.map(({ index }) => ({
      index,
      delta: { reasoning: 'hm', tool_calls: [{ index: 0, id: 'c', function: { arguments: '{"a":1}' } }] },
      finish_reason: 'tool_calls',
    })),
  })
  t.equal(first.calls.length, 1)
})

const HELLO = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }] }

t.test('when a body is invalid the next endpoint answers, and the failure is reported', async (t) => {
  const { post, first, rest } = await openChatProvider(t)
  const error = JSON.stringify({ error: { message: 'Slow down.', code: 429 } })
  const [invalid, broken] = ['upstream_invalid', 'upstream_failed']
  for (const [stream, answer, name] of [
    [true, wholeJson(200, '{"choices":[]'), invalid],
    [true, wholeJson(200, '<html>', { 'content-type': 'text/event-stream' }), invalid],
    [true, wholeJson(200, '{"detail":"Not found"}'), invalid],
    [true, wholeJson(200, error), 'upstream_overloaded'],
    [true, wholeJson(200, '{"error":{"message":"x"}}'), broken],
    [true, largeJson, 'upstream_too_large'],
    [false, wholeJson(200, 'busy'), invalid],
    [false, wholeJson(200, `data: ${error}\n\n`), 'upstream_overloaded'],
    [false, wholeJson(200, 'data: {"choices":[{"delta":{}}]}\n\n'), broken],
    [false, inOtherForm('chat', { cutAt: 500, framing: 'close' }), broken],
    [false, inOtherForm('chat', { cutAt: 500, ending: 'rst' }), broken],
  ] as const) {
    first.script(answer)
    const good = await post({ ...HELLO, stream })
    t.match(await good.text(), stream ? ENDS.chat : '"Hello there, you"')
    t.equal(good.headers.get('x-sluice-provider'), 'second')
    first.script(answer)
    const only = ['first']
    const failed = (await (await post({ ...HELLO, stream, provider: { only } })).json()) as {
      error: { type: string }
    }
    t.equal(failed.error.type, name)
  }
  t.equal(await rest(), 0)
})

/** More than a whole answer may have. */
const largeJson: FakeAnswer = async (_, reply) => {
  await reply.head(200, { 'content-type': 'application/json' })
  await reply.write(Buffer.from('{"a":"'))
  const piece = Buffer.alloc(1024 * 1024, 0x61)
  for (let bytes = 0; bytes <= UPSTREAM_WRITTEN_BYTES_MAX; bytes += piece.length) await reply.write(piece)
}

t.test('a large body is reframed in a worker thread', async (t) => {
  const { send, first, rest } = await rigged(t, 'messages')
  const text = 'é"\n'.repeat(200_000)
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 2 } },
  }
  for (const dialect of DIALECTS) {
    first.script(wholeJson(200, JSON.stringify(message)))
    const streamed = await (await send(dialect, { stream: true })).text()
    t.match(streamed, ENDS[dialect])
    t.ok(streamed.split('é').length > 200_000)
  }
  t.equal(await rest(), 0)
})
