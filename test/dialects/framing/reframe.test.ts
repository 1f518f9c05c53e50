/** Bodies in the form that was not asked for: what they become says the same to readers and to clients. D14, D22. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { reframe } from '../../../src/dialects/reframe.ts'
import { nativeAnswer, NATIVE_DIALECTS } from '../../../src/dialects/native-answer.ts'
import { joinedParts, partsOf } from '../../support/inference/cut-parts.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { geminiBody, geminiEvents } from '../../support/inference/gemini/fake-gemini.ts'
import { HEAD, FAILURE_OF, streamOf } from '../../support/inference/provider-chunks.ts'
import { PROVIDER_ANSWERS, PROVIDER_STREAMS } from '../../support/inference/provider-streams.ts'
import { naturalOf, WRITTEN_PARTS } from '../../support/inference/random-parts.ts'
import { RESPONSES_ANSWERS, RESPONSES_STREAMS } from '../../support/inference/responses-streams.ts'
import { bothOf, streamOfParts, wholeOfParts } from '../../support/inference/written-answers.ts'
import { orNull, present } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'
import { frameOf } from '../../../src/dialects/native-events.ts'
import { PART_PROTOCOLS } from '../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

const RUNS = { numRuns: 40 }
const SHOWN = { whole: '{"prompt_tokens":1}', added: null }

function made(protocol: TextProtocol, to: 'answer' | 'events', bytes: Uint8Array): Buffer {
  const read = reframe({ protocol, to, bytes })
  if (!read.ok) throw new Error(`${protocol}, to ${to}: ${read.failure.name}`)
  t.equal(read.bytes.buffer.byteLength, read.bytes.length, 'in memory that can be moved')
  return Buffer.from(read.bytes)
}

const eventsOf = (protocol: TextProtocol, answer: object): Buffer =>
  made(protocol, 'events', Buffer.from(JSON.stringify(answer)))

/** A stream and a whole answer say the same to a reader of the protocol. */
function same(
  t: Test,
  protocol: TextProtocol,
  { events, answer }: { events: Uint8Array; answer: Uint8Array },
) {
  const { stream, whole } = PART_PROTOCOLS[protocol]
  const read = partsOf(stream(FAILURE_OF), [events])
  const text = present(orNull(whole(Buffer.from(answer))))
  t.equal(read.failure, null)
  t.equal(read.end, null)
  t.same(joinedParts(read.parts), joinedParts(text.parts), protocol)
  for (const name of ['usage', 'outputBytes', 'finishReason', 'upstreamId'] as const)
    t.same(read[name], text[name], name)
}

/** What a caller of the same dialect gets of a provider's stream. */
function passed(t: Test, dialect: Dialect, events: Uint8Array): Buffer {
  const stream = NATIVE_DIALECTS[dialect].stream(HEAD, FAILURE_OF)
  const { events: given, failure } = stream.read(events)
  const own = Buffer.from(given ?? [])
  t.equal(failure, null)
  t.equal(stream.end(), null)
  return Buffer.concat([own, ...(stream.finalEvents?.withUsage(SHOWN) ?? [])])
}

for (const dialect of DIALECTS) {
  t.test(`${dialect}: a whole answer becomes a stream with the same content`, async (t) => {
    await fc.assert(
      fc.asyncProperty(WRITTEN_PARTS, async (parts) => {
        const answer = wholeOfParts(dialect, naturalOf(dialect, parts))
        const events = eventsOf(dialect, answer)
        same(t, dialect, { events, answer: Buffer.from(JSON.stringify(answer)) })
        const { put, stated } = await bothOf(dialect, passed(t, dialect, events), answer)
        t.hasStrict({ ...put, content: put['content'] ?? '' }, stated)
      }),
      RUNS,
    )
  })

  t.test(`${dialect}: a stream becomes a whole answer with the same content`, async (t) => {
    await fc.assert(
      fc.asyncProperty(WRITTEN_PARTS, async (parts: readonly WrittenPart[]) => {
        const events = streamOfParts(dialect, naturalOf(dialect, parts))
        const answer = made(dialect, 'answer', events)
        same(t, dialect, { events, answer })
        const native = present(orNull(nativeAnswer(dialect, answer, HEAD)))
        const whole = JSON.parse(Buffer.concat(native.withUsage(SHOWN)).toString()) as Record<string, unknown>
        const { put, stated } = await bothOf(dialect, events, whole)
        t.hasStrict({ ...put, content: put['content'] ?? '' }, stated)
      }),
      RUNS,
    )
  })
}

t.test('answers and streams of every provider can be converted to the other form', async (t) => {
  for (const answer of Object.values(PROVIDER_ANSWERS)) {
    const events = eventsOf('chat', answer)
    same(t, 'chat', { events, answer: Buffer.from(JSON.stringify(answer)) })
    passed(t, 'chat', events)
  }
  for (const stream of Object.values(PROVIDER_STREAMS)) {
    const events = streamOf(stream)
    same(t, 'chat', { events, answer: made('chat', 'answer', events) })
  }
  for (const answer of Object.values(RESPONSES_ANSWERS)) {
    const events = eventsOf('responses', answer)
    same(t, 'responses', { events, answer: Buffer.from(JSON.stringify(answer)) })
    passed(t, 'responses', events)
  }
  for (const stream of Object.values(RESPONSES_STREAMS)) {
    const events = bodyOf(stream)
    same(t, 'responses', { events, answer: made('responses', 'answer', events) })
  }
})

t.test('converts answers and streams of Gemini, and its lists of answers', async (t) => {
  const what = { thoughts: ['hm'], calls: [{ name: 'f', args: { a: '12345678901234567890' } }] }
  const [answer, events] = [geminiBody(what), bodyOf(geminiEvents(what))]
  const json = Buffer.from(JSON.stringify(answer, null, 1))
  same(t, 'gemini', { events: made('gemini', 'events', json), answer: json })
  same(t, 'gemini', { events, answer: made('gemini', 'answer', events) })
  const list = geminiEvents(what).map(({ data }) => JSON.parse(data) as object)
  same(t, 'gemini', { events: eventsOf('gemini', list), answer: made('gemini', 'answer', events) })
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
  t.same(JSON.parse(made('gemini', 'answer', streamOf([blocked])).toString()), blocked)
})

t.test('members that translations omit are kept for callers of the same dialect', async (t) => {
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null },
    content: [
      { type: 'text', text: 'é', citations: [{ type: 'char_location', cited_text: 'x' }] },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q', n: 1 } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{ type: 'web_search_result', url: 'u' }],
      },
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'tool_use', id: 't', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 1 },
  }
  t.same(JSON.parse(made('messages', 'answer', eventsOf('messages', message)).toString()), message)
  const response = { ...RESPONSES_ANSWERS['openai, a search of the web'], x: [1] }
  t.same(JSON.parse(made('responses', 'answer', eventsOf('responses', response)).toString()), response)
  const chat = {
    ...{ id: 'c', object: 'chat.completion', created: 17, model: 'm', service_tier: 'default' },
    choices: [0, 1].map((index) => ({
      index,
      finish_reason: 'stop',
      logprobs: { content: [{ token: 'é', logprob: -1 }] },
      message: {
        role: 'assistant',
        content: 'é',
        annotations: [{ type: 'url_citation' }],
        images: [{ type: 'image_url', image_url: { url: 'u' } }],
        audio: { id: 'a', data: 'AAEC', transcript: 't', expires_at: 1 },
      },
    })),
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  }
  t.same(JSON.parse(made('chat', 'answer', eventsOf('chat', chat)).toString()), chat)
})

t.test('fragments of chat are joined in every form that servers write', async (t) => {
  const choice = (delta: object, more: object = {}): object => ({ choices: [{ index: 0, delta, ...more }] })
  const call = (...fragments: readonly object[]): object => choice({ tool_calls: fragments })
  const messageOf = (...events: readonly (object | string)[]): unknown => {
    const end = choice({}, { finish_reason: 'stop' })
    const answer = JSON.parse(made('chat', 'answer', streamOf([...events, end])).toString()) as {
      choices: [{ message: object }]
    }
    return answer.choices[0].message
  }
  const thinking = (text: string): object => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
  t.same(
    messageOf(
      choice({ role: 'assistant', content: [thinking('h')] }),
      choice({ content: [thinking('m'), { type: 'text', text: 'a' }] }),
      choice({ content: 'b' }),
    ),
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'ab' },
      ],
    },
  )
  const f = (name: string, json: unknown): object => ({ name, arguments: json })
  t.same(
    messageOf(
      call({ index: 0, id: 'c1', function: f('f', { p: 'a' }) }),
      call({ index: 0, id: 'c2', function: f('f', '{"p":') }),
      call({ index: 0, function: { arguments: '"b"}' } }),
      call({ id: 'c3', type: 'function', extra_content: { google: 1 }, function: { name: 'g' } }),
    ),
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { type: 'function', id: 'c1', function: f('f', '{"p":"a"}') },
        { type: 'function', id: 'c2', function: f('f', '{"p":"b"}') },
        { type: 'function', id: 'c3', extra_content: { google: 1 }, function: f('g', '') },
      ],
    },
  )
  t.same(
    messageOf(
      choice({ reasoning: 'h', reasoning_details: [{ type: 'reasoning.text', text: 'h', index: 0 }] }),
      choice({ reasoning: 'm', reasoning_details: [{ type: 'reasoning.text', text: 'm', index: 0 }] }),
      choice({ reasoning_details: [{ type: 'reasoning.text', signature: 's', format: 'x', index: 0 }] }),
      choice({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'd', index: 1 }] }),
      choice({ function_call: { name: 'f', arguments: '{' } }),
      choice({ function_call: { arguments: '}' } }),
    ),
    {
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'hm', signature: 's', format: 'x' },
        { type: 'reasoning.encrypted', index: 1, data: 'd' },
      ],
      function_call: { name: 'f', arguments: '{}' },
    },
  )
})

t.test('refuses bodies that are not an answer, and incomplete ones', async (t) => {
  const finish = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] }
  const cut: Readonly<Record<TextProtocol, readonly object[]>> = {
    chat: [{ choices: [{ index: 0, delta: { content: 'x' } }] }],
    messages: [{ type: 'message_start', message: {} }],
    responses: [{ type: 'response.created', response: { output: [] } }],
    gemini: [{ candidates: [{ content: { parts: [{ text: 'x' }] } }] }],
  }
  for (const protocol of Object.keys(cut) as TextProtocol[]) {
    const answered = (events: readonly (object | string)[]): unknown =>
      reframe({ protocol, to: 'answer', bytes: streamOf(events) })
    t.match(answered(cut[protocol]), { ok: false, failure: { name: 'upstream_failed' } }, protocol)
    t.match(answered(['[DONE]']), { ok: false, failure: { name: 'upstream_failed' } }, protocol)
    t.match(answered(['{"a"']), { ok: false, failure: { name: 'upstream_invalid' } }, protocol)
    const error = { error: { message: 'no', code: 429 } }
    t.match(answered([error]), { ok: false, error: Buffer.from(JSON.stringify(error)) }, protocol)
    const streamed = (json: string): unknown => reframe({ protocol, to: 'events', bytes: Buffer.from(json) })
    for (const json of ['{', '[]{}', '7', '{"a":1}}', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`])
      t.match(streamed(json), { ok: false, failure: { name: 'upstream_invalid' } }, `${protocol} ${json}`)
    const read = PART_PROTOCOLS[protocol].stream(FAILURE_OF).read(eventsOf(protocol, error))
    t.match(read.failure, { name: 'upstream_overloaded' }, protocol)
  }
  t.match(reframe({ protocol: 'chat', to: 'answer', bytes: streamOf([finish]) }), { ok: true })
})

t.test('recognizes a body by its first bytes', async (t) => {
  const frames = {
    answer: ['{"a"', ' \n\t{', '\ufeff{', '[{'],
    events: ['data: x', ': hi', '\n\nevent: x', '\ufeffdata', 'id', '\r\n\r\nd', 'error'],
    page: ['<html>', ' <!DOCTYPE'],
    none: ['', ' \r\n\t', '\ufeff', '\ufeff \n'],
  }
  for (const [frame, bodies] of Object.entries(frames))
    for (const body of bodies) t.equal(frameOf(Buffer.from(body)) ?? 'none', frame, JSON.stringify(body))
  for (const cut of [1, 2]) t.equal(frameOf(Buffer.from('\ufeff{').subarray(0, cut)), null)
})
