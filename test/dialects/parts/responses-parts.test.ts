/** Streams of responses in the internal form, hostile ones first. */
import t from 'tap'
import { STREAM_EVENT_BYTES_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { ITEMS_MAX } from '../../../src/dialects/responses/items.ts'
import { ResponsesParts, responseWhole } from '../../../src/dialects/responses/parts.ts'
import {
  joinedParts,
  partsOf,
  samePartsWhereverCut,
  type PartSummary,
} from '../../support/inference/cut-parts.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import {
  messageEvents,
  named,
  RESPONSE,
  RESPONSES_ANSWERS,
  RESPONSES_STREAMS,
  USAGE,
} from '../../support/inference/responses-streams.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'

type Members = Readonly<Record<string, unknown>>
const open = (): ResponsesParts => new ResponsesParts(FAILURE_OF)
const bytesOf = (events: readonly (Members | string)[]): Buffer =>
  Buffer.concat(
    events.map((event) =>
      typeof event === 'string' ? Buffer.from(`data: ${event}\n\n`) : bodyOf(named([event])),
    ),
  )
const read = (...events: readonly (Members | string)[]): PartSummary => partsOf(open(), [bytesOf(events)])
const created = { type: 'response.created', response: RESPONSE }
const completed = (output: unknown = [], more: Members = {}): Members => ({
  type: 'response.completed',
  response: { ...RESPONSE, status: 'completed', output, ...more },
})
const added = (item: unknown, output_index = 0): Members => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (item: unknown, output_index = 0): Members => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const fragment = (delta: unknown, output_index = 0): Members => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
})
const delta = (of: string, output: unknown, more: Members = {}): Members => ({
  type: `response.${of}.delta`,
  output_index: 0,
  delta: output,
  ...more,
})
const call = (call_id: string, json = '', name = 'f'): Members => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: json,
})
const stated = (kind: 'text' | 'refusal' | 'reasoning' | 'arguments', text: string): WrittenPart => ({
  kind,
  choice: 0,
  text,
})
const summary = (text: string): WrittenPart => ({ kind: 'reasoning', choice: 0, text, isSummary: true })
const tool = (id: string, name = 'f'): WrittenPart => ({ kind: 'tool', choice: 0, id, name })
const signed = (data: string, of = 'reasoning', format = 'openai-responses-v1'): object => ({
  kind: 'signature',
  choice: 0,
  signature: { format, data },
  of,
})
const finish = (reason = 'stop', native = 'completed'): object => ({
  kind: 'finish',
  choice: 0,
  reason,
  native,
  stopSequence: null,
})

t.test('an event is invalid if it is not an object or a known member has a wrong type', async (t) => {
  const events: readonly (Members | string)[] = [
    '{',
    '[]',
    added({ type: 7 }),
    added({ type: 'function_call', call_id: 7 }),
    added({ type: 'reasoning', encrypted_content: 7 }),
    added('x'),
    { ...added(call('c')), output_index: -1 },
    delta('output_text', 7),
    delta('output_text', 'x', { content_index: 'x' }),
    { type: 'response.output_text.done', output_index: 0, text: {} },
    done({ type: 'message', content: 'x' }),
    done({ type: 'reasoning', summary: [{ text: 7 }] }),
    done(call('c')),
    { type: 'response.completed' },
    completed([7]),
    completed([{ type: 'message', content: [{ text: 7 }] }]),
  ]
  for (const event of events) {
    const { failure, parts } = read(created, ...messageEvents(['x']).slice(0, 3), event)
    t.match(failure, { name: 'upstream_invalid' }, JSON.stringify(event))
    t.same(parts, [stated('text', 'x')])
  }
  t.match(read(added(call('c')), delta('output_text', 'x')).failure, { name: 'upstream_invalid' })
})

t.test('the number of items and the size of events are limited', async (t) => {
  const items = Array.from({ length: ITEMS_MAX + 1 }, (_, at) => added({ type: 'message' }, at))
  t.equal(read(...items.slice(1)).failure, null)
  t.match(read(...items).failure, { name: 'upstream_invalid' })
  const parts = Array.from({ length: ITEMS_MAX + 1 }, (_, at) =>
    delta('output_text', 'x', { content_index: at }),
  )
  t.match(read(...parts).failure, { name: 'upstream_invalid' })
  const long = delta('output_text', 'x'.repeat(STREAM_EVENT_BYTES_MAX))
  t.match(read(long).failure, { name: 'upstream_too_large' })
})

t.test('an error in any form ends the stream, after the parts before it', async (t) => {
  const error = { code: 'rate_limit_exceeded', message: 'slow down' }
  const failed = { type: 'response.failed', response: { ...RESPONSE, status: 'failed', error } }
  for (const event of [{ type: 'error', ...error }, { type: 'x', error }, failed]) {
    const { failure, parts } = read(created, delta('output_text', 'x'), event)
    t.match(failure, { name: 'upstream_overloaded', metadata: { provider_code: 'rate_limit_exceeded' } })
    t.same(parts, [stated('text', 'x')])
  }
})

t.test('a stream is whole only after a last event, and nothing after that event counts', async (t) => {
  const events = [created, ...messageEvents(['x'])]
  for (let count = 0; count <= events.length; count++)
    t.match(read(...events.slice(0, count), '[DONE]').end, { name: 'upstream_failed' })
  const { end, parts } = read(...events, completed(), '{')
  t.equal(end, null)
  t.same(parts, [stated('text', 'x'), finish()])
})

t.test(
  'a text is given once, however often a server sends it, and whichever of its events are missing',
  async (t) => {
    const events = messageEvents(['Hi', ' there'])
    const message = { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hi there' }] }
    for (let from = 0; from <= events.length; from++)
      for (let to = from; to <= events.length; to++) {
        const some = [...events.slice(0, from), ...events.slice(to)]
        const { parts, failure } = read(created, ...some, completed([message]))
        // The second fragment alone is a text that begins in its middle.
        if (from <= 2 && to === 3) t.match(failure, { name: 'upstream_invalid' })
        else t.same(joinedParts(parts), [stated('text', 'Hi there'), finish()])
      }
  },
)

t.test('a stream is invalid when its fragments are not the beginning of the whole text', async (t) => {
  const of = { type: 'response.output_text.done', output_index: 0, text: 'Hi there' }
  for (const lost of [[' there'], ['i there'], ['Hi', 'there'], ['Hx']]) {
    const { failure, parts } = read(created, ...lost.map((text) => delta('output_text', text)), of)
    t.match(failure, { name: 'upstream_invalid' }, lost.join())
    t.same(joinedParts(parts), [stated('text', lost.join(''))])
  }
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi there' }] }
  for (const whole of [of, done(message)]) {
    const { failure, parts } = read(created, whole, delta('output_text', ' you'))
    t.match(failure, { name: 'upstream_invalid' }, 'a fragment after the whole text')
    t.same(parts, [stated('text', 'Hi there')])
  }
  const begun = [added(call('c1')), fragment('{"a":'), fragment('2')]
  for (const whole of [
    done(call('c1', '{"a":1,"b":2}')),
    { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1,"b":2}' },
  ])
    t.match(read(created, ...begun, whole).failure, { name: 'upstream_invalid' })
  const written = [...begun.slice(0, 2), fragment('1}'), done(call('c1', '{ "a" : 1 }'))]
  t.same(joinedParts(read(created, ...written, completed()).parts), [
    ...[tool('c1'), stated('arguments', '{"a":1}'), finish('tool_calls')],
  ])
})

t.test('calls can be interleaved, whole, without arguments, or named late', async (t) => {
  const interleaved = [
    ...[added(call('c1')), added(call('c2', '', 'g'), 1), fragment('{"b"', 1), fragment('{"a"')],
    ...[
      fragment(':1}'),
      fragment(':2}', 1),
      done(call('c1', '{"a":1}')),
      done(call('c2', '{"b":2}', 'g'), 1),
    ],
  ]
  const both = [tool('c1'), stated('arguments', '{"a":1}'), tool('c2', 'g'), stated('arguments', '{"b":2}')]
  const cases: readonly (readonly [readonly Members[], readonly WrittenPart[]])[] = [
    [interleaved, both],
    [[done(call('c1', '{"a":1}')), done(call('c2', '{"b":2}', 'g'), 1)], both],
    [[added(call('c1', '', '')), fragment('{"a":1}'), done(call('c1', '{"a":1}'))], both.slice(0, 2)],
    [
      [added(call('c1')), done(call('c1'))],
      [tool('c1'), stated('arguments', '{}')],
    ],
    [
      [added(call('c1')), done(call('c1')), delta('output_text', 'x', { output_index: 1 })],
      [...[tool('c1'), stated('arguments', '{}'), stated('text', 'x')]],
    ],
  ]
  for (const [events, parts] of cases)
    t.same(joinedParts(read(created, ...events, completed()).parts), [...parts, finish('tool_calls')])
  t.same(joinedParts(read(created, completed([call('c1', '{"a":1}')])).parts), [
    ...both.slice(0, 2),
    finish('tool_calls'),
  ])
})

t.test('reasoning: parts of a summary are paragraphs, and the signature is given at the end', async (t) => {
  const texts = ['a', 'b'].map((text) => ({ type: 'summary_text', text }))
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'early' }
  const events = [
    ...[added(item), delta('reasoning_summary_text', 'a', { summary_index: 0 })],
    ...[delta('reasoning_summary_text', 'b', { summary_index: 1 })],
    ...[done({ ...item, summary: texts, encrypted_content: 'E' }), added({ ...item, id: 'rs_2' }, 1)],
    ...[done({ ...item, id: 'rs_2', encrypted_content: 'F' }, 1)],
    delta('reasoning_text', 'r', { output_index: 2 }),
    done({ type: 'reasoning', encrypted_content: 'sl1.google-gemini-v1+call.G' }, 2),
  ]
  const again = completed([{ ...item, summary: texts, encrypted_content: 'E' }])
  t.same(read(created, ...events, again).parts, [
    ...[summary('a'), summary('\n\nb'), signed('E'), signed('F')],
    ...[stated('reasoning', 'r'), signed('sl1.google-gemini-v1+call.G'), finish()],
  ])
})

t.test('two messages are joined by a blank line, streamed and whole', async (t) => {
  const message = (id: string, ...texts: readonly string[]): Members => ({
    ...{ type: 'message', id },
    content: texts.map((text) => ({ type: 'output_text', text })),
  })
  const [plan, answer] = [message('m1', 'Plan: ', 'look.'), message('m2', 'The answer.')]
  const text = (output: string, output_index: number, content_index = 0): Members =>
    delta('output_text', output, { output_index, content_index })
  const joined = [stated('text', 'Plan: look.\n\nThe answer.'), finish()]
  const streamed = read(
    ...[created, added(message('m1')), text('Plan: ', 0), text('look.', 0, 1), done(plan)],
    ...[added(message('m2'), 1), text('The ', 1), text('answer.', 1), done(answer, 1)],
    completed([plan, answer]),
  )
  t.same(joinedParts(streamed.parts), joined)
  const output = [message('m0'), plan, { ...answer, content: [{ type: 'refusal', refusal: 'No.' }] }]
  t.same(read(completed([plan, answer])).parts.length, 4, 'in the last event alone')
  t.same(joinedParts(read(completed([plan, answer])).parts), joined)
  const whole = (items: readonly Members[]) =>
    orNull(responseWhole(Buffer.from(JSON.stringify({ id: 'r', output: items }))))?.parts
  t.same(whole([plan, answer]), [joined[0], finish('stop', 'completed')])
  t.match(whole(output), [stated('text', 'Plan: look.'), stated('refusal', 'No.')], 'a refusal is apart')
  t.match(whole([plan, call('c', '{}'), answer]), [
    ...[stated('text', 'Plan: look.'), { kind: 'tool' }, stated('arguments', '{}')],
    stated('text', '\n\nThe answer.'),
  ])
})

t.test('a provider has its own signature format when its protocol is that of another vendor', async (t) => {
  const format = 'xai-responses-v1'
  const { response } = completed([{ type: 'reasoning', summary: [], encrypted_content: 'E' }])
  const { parts } = new ResponsesParts(FAILURE_OF, format).read(
    bytesOf([{ type: 'response.completed', response }]),
  )
  t.same(parts[0], signed('E', 'reasoning', format))
  t.same(orNull(responseWhole(Buffer.from(JSON.stringify(response)), format))?.parts, parts)
})

t.test('reads refusals, and ignores items and events of other types', async (t) => {
  const events = [
    ...[added({ type: 'web_search_call', id: 'ws', action: 7, name: 7 }), { type: 'response.new', delta: 7 }],
    ...[delta('reasoning_text', 'x'), done({ type: 'web_search_call', id: 'ws' }), { type: 'keepalive' }],
    delta('refusal', 'N', { output_index: 1 }),
    { type: 'response.refusal.done', output_index: 1, refusal: 'No.' },
  ]
  t.same(read(created, ...events, completed()).parts, [
    stated('refusal', 'N'),
    stated('refusal', 'o.'),
    finish(),
  ])
  for (const type of ['reasoning', 'web_search_call', 'new_item'])
    t.match(read(added({ type }), delta('output_text', 'x')).failure, { name: 'upstream_invalid' }, type)
})

t.test('gives the reason why an answer ended', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['new_word', 'length'],
  ]
  for (const [word, reason] of cases) {
    const { response } = completed([], { status: 'incomplete', incomplete_details: { reason: word } })
    const { parts, finishReason } = read(added(call('c1')), { type: 'response.incomplete', response })
    t.same(parts.at(-1), finish(reason, word))
    t.equal(finishReason, word)
  }
})

t.test('usage: cached tokens are part of the input, and reasoning is part of the output', async (t) => {
  const usage = {
    ...{ input_tokens: 10, output_tokens: 6, total_tokens: 16 },
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
    output_tokens_details: { reasoning_tokens: 2 },
  }
  const text = delta('output_text', 'x')
  const bucketed = { input: 5, cacheRead: 4, cacheWrite: 1, output: 4, reasoning: 2 }
  t.same(read(text, completed([], { usage })).usage, bucketed)
  t.equal(read(text, completed([], { usage: { ...usage, output_tokens: 0 } })).usage, null)
  t.equal(read(text, completed()).usage, null)
})

t.test('a stream gives the same parts however it is split into reads', (t) => {
  const events = [
    ...[created, ...messageEvents(['é']), added(call('c1'), 1), fragment('{"a":"😀"}', 1)],
    completed([], { usage: USAGE }),
  ]
  const bytes = bytesOf(events)
  samePartsWhereverCut(t, open, { bytes, wholeAt: bytes.length })
  t.end()
})

t.test('the stream and the whole answer of every provider give the same parts', async (t) => {
  const kindsOf = (parts: readonly WrittenPart[]): readonly string[] =>
    joinedParts(parts).map(({ kind }) => kind)
  for (const [provider, events] of Object.entries(RESPONSES_STREAMS)) {
    const { parts, end } = partsOf(open(), [bodyOf(events)])
    const answer = JSON.stringify(RESPONSES_ANSWERS[provider] ?? lastOf(events))
    const whole = orNull(responseWhole(Buffer.from(answer)))
    t.equal(end, null, provider)
    t.same(joinedParts(parts), joinedParts(whole?.parts ?? []), provider)
    t.same(kindsOf(parts).filter((kind) => kind === 'text' || kind === 'tool').length, 1, provider)
  }
})

function lastOf(events: readonly { readonly data: string }[]): unknown {
  const datas = events.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Members]))
  return datas.at(-1)?.['response']
}

t.test('refuses bodies that are not a whole answer', async (t) => {
  const bodies: readonly unknown[] = [
    ...[[], {}, { output: 'x' }, { output: [], status: 'failed' }, { output: [], error: { code: 'x' } }],
    { output: [7] },
    { output: [{ type: 'function_call', arguments: '{}' }] },
  ]
  for (const body of bodies) t.equal(orNull(responseWhole(Buffer.from(JSON.stringify(body)))), null)
  t.equal(orNull(responseWhole(Buffer.from('{'))), null)
  const message = { type: 'message', content: [{ type: 'output_text', text: 'x' }] }
  t.same(
    orNull(responseWhole(Buffer.from(JSON.stringify({ id: 'r', output: [message], status: 'incomplete' })))),
    {
      parts: [stated('text', 'x'), finish('length', 'incomplete')],
      usage: null,
      reported: {},
      outputBytes: 1,
      finishReason: 'incomplete',
      upstreamId: 'r',
    },
  )
})

t.test('a stream only awaits its usage once a message or a call is done and no item is open', async (t) => {
  const stream = open()
  const awaits = (...events: readonly Members[]): boolean => {
    t.equal(stream.read(bytesOf(events)).failure, null)
    return stream.awaitsUsage
  }
  const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
  t.notOk(awaits(created, added(thought), done(thought)), 'an answer follows')
  t.notOk(awaits(added(call, 1)))
  t.ok(awaits(done(call, 1)))
  t.notOk(awaits(completed([thought, call])))
})
