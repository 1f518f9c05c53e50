/** Streams of messages in the internal form, hostile ones first. */
import t from 'tap'
import { TOOLS_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { MessagesParts, messageWhole } from '../../../src/dialects/messages/parts.ts'
import {
  joinedParts,
  partsOf,
  samePartsWhereverCut,
  type PartSummary,
} from '../../support/inference/cut-parts.ts'
import {
  ANSWER,
  block,
  blockEnd,
  delta,
  messageStreamOf,
  started,
  STOP,
  stopped,
  text,
} from '../../support/inference/message-events.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart, WholeParts } from '../../../src/dialects/parts.ts'

const open = (): MessagesParts => new MessagesParts(FAILURE_OF)
const read = (...events: readonly (object | string)[]): PartSummary =>
  partsOf(open(), [messageStreamOf(events)])
const whole = (content: unknown, more: object = {}): WholeParts | null =>
  orNull(messageWhole(Buffer.from(JSON.stringify({ id: 'msg_1', type: 'message', content, ...more }))))
const stated = (kind: 'text' | 'reasoning' | 'arguments', stated: string): WrittenPart => ({
  kind,
  choice: 0,
  text: stated,
})
const tool = (id: string): WrittenPart => ({ kind: 'tool', choice: 0, id, name: 'f' })
const use = (id: string, input: object = {}): object => ({ type: 'tool_use', id, name: 'f', input })
const json = (part: string, index = 0): object =>
  delta({ type: 'input_json_delta', partial_json: part }, index)
const signed = (data: string, of: string, format = 'anthropic-claude-v1'): object => ({
  kind: 'signature',
  choice: 0,
  signature: { format, data },
  of,
})
const finish = (reason: string, native: string, stopSequence: string | null = null): object => ({
  kind: 'finish',
  choice: 0,
  reason,
  native,
  stopSequence,
})
const ended = [blockEnd(), stopped(), STOP]

t.test('an event is invalid if it is not an object or a known member has a wrong type', async (t) => {
  const begun = block({ type: 'text', text: '' })
  const events: readonly (object | string)[] = [
    '{',
    '[]',
    '7',
    { type: 'message_start', message: 'x' },
    block({ type: 'text', text: 7 }),
    block({ text: 'x' }),
    { type: 'content_block_start', index: 0 },
    { type: 'content_block_start', index: 'x', content_block: { type: 'text' } },
    block({ type: 'tool_use', id: 7, name: 'f' }),
    block({ type: 'tool_use', name: 'f' }),
    block({ type: 'tool_use', id: 'c' }),
    delta({ type: 'text_delta', text: [] }),
    delta({ type: 'signature_delta', signature: 7 }),
    delta({ type: 'input_json_delta', partial_json: {} }),
    { type: 'content_block_delta', index: 0, delta: 'x' },
    { type: 'message_delta', delta: { stop_reason: 7 } },
    text('x', 1),
  ]
  for (const event of events) {
    const { failure, parts } = read(started(), begun, text('x'), event, text('y'))
    t.match(failure, { name: 'upstream_invalid' }, JSON.stringify(event))
    t.same(parts, [stated('text', 'x')])
  }
  t.match(read(started(), text('x')).failure, { name: 'upstream_invalid' }, 'a text of no block')
})

t.test('an error in any form ends the stream, after the parts before it', async (t) => {
  const error = { type: 'overloaded_error', message: 'Overloaded' }
  for (const event of [{ type: 'error', error }, { error }, { type: 'message_delta', error }]) {
    const { failure, parts } = read(started(), block({ type: 'text', text: 'x' }), event)
    t.match(failure, { name: 'upstream_overloaded' })
    t.same(parts, [stated('text', 'x')])
  }
  const named = Buffer.from(`event: error\ndata: ${JSON.stringify({ error })}\n\n`)
  t.match(partsOf(open(), [named]).failure, { name: 'upstream_overloaded' })
})

t.test('only `message_stop` makes a stream whole, and nothing after it counts', async (t) => {
  const until = [started(), block({ type: 'text', text: 'x' }), blockEnd(), stopped()]
  for (let count = 0; count <= until.length; count++)
    t.match(read(...until.slice(0, count), '[DONE]').end, { name: 'upstream_failed' })
  const { end, parts } = read(...until, STOP, '{', text('y'))
  t.equal(end, null)
  t.same(parts, [stated('text', 'x'), finish('stop', 'end_turn')])
})

t.test('an end without a message that began is invalid', async (t) => {
  for (const before of [[], [{ type: 'ping' }], [{ type: 'answer.new' }]]) {
    const { failure, parts } = read(...before, STOP)
    t.match(failure, { name: 'upstream_invalid' })
    t.same(parts, [])
  }
})

t.test('thinking can have several blocks, each with its signature, or with a signature only', async (t) => {
  const thinking = (text: string, signature = ''): object => ({ type: 'thinking', thinking: text, signature })
  const events = [
    ...[started(), block(thinking('')), delta({ type: 'thinking_delta', thinking: 'é' })],
    ...[delta({ type: 'signature_delta', signature: 'S1' }), blockEnd()],
    ...[block(thinking(''), 1), delta({ type: 'signature_delta', signature: 'S2' }, 1), blockEnd(1)],
    ...[block(thinking('b', 'S3'), 2), blockEnd(2)],
    ...[block({ type: 'redacted_thinking', data: 'R' }, 3), blockEnd(3)],
    ...[block(thinking('c', 'sl1.google-gemini-v1+call.G'), 4), blockEnd(4), stopped(), STOP],
  ]
  t.same(read(...events).parts, [
    stated('reasoning', 'é'),
    signed('S1', 'reasoning'),
    signed('S2', 'reasoning'),
    stated('reasoning', 'b'),
    signed('S3', 'reasoning'),
    signed('R', 'redacted'),
    stated('reasoning', 'c'),
    // Only a provider's own signatures name their format: this one is data of Anthropic's.
    signed('sl1.google-gemini-v1+call.G', 'reasoning'),
    finish('stop', 'end_turn'),
  ])
})

t.test('a tool call can come first, in fragments, whole at its start, or without arguments', async (t) => {
  const events = [
    ...[started(), block(use('c1')), json(''), json('{"a"'), json(':1}'), blockEnd()],
    ...[block(use('c2', { b: [{}] }), 1), blockEnd(1), block(use('c3'), 2), json('', 2)],
    ...[block({ type: 'text', text: '' }, 3), text('x', 3), blockEnd(3)],
    ...[stopped({ output_tokens: 1 }, 'tool_use'), STOP],
  ]
  t.same(read(...events).parts, [
    tool('c1'),
    stated('arguments', '{"a"'),
    stated('arguments', ':1}'),
    tool('c2'),
    stated('arguments', '{"b":[{}]}'),
    tool('c3'),
    stated('arguments', '{}'),
    stated('text', 'x'),
    finish('tool_calls', 'tool_use'),
  ])
})

t.test('calls whose blocks are open at the same time are given one after another', async (t) => {
  const begun = [started(), block(use('c1')), block(use('c2'), 1), block(use('c3', { z: 1 }), 2)]
  const fragments = [json('{"a"', 0), json('{"b":', 1), json(':1}', 0), json('2}', 1)]
  const calls = [
    ...[tool('c1'), stated('arguments', '{"a":1}'), tool('c2'), stated('arguments', '{"b":2}')],
    ...[tool('c3'), stated('arguments', '{"z":1}'), finish('tool_calls', 'tool_use')],
  ]
  const last = [stopped({}, 'tool_use'), STOP]
  for (const ends of [[blockEnd(), blockEnd(1), blockEnd(2)], [blockEnd(2), blockEnd(1), blockEnd()], []]) {
    const { parts, end } = read(...begun, ...fragments, ...ends, ...last)
    t.same([end, joinedParts(parts)], [null, calls])
  }
  const behind = [json('{}', 1), ...last]
  t.match(read(...begun, blockEnd(1), ...behind).failure, { name: 'upstream_invalid' }, 'one that has ended')
  const first = read(...begun, json('{"b":2}', 1), json('{"a"', 0))
  t.same(first.parts, [tool('c1'), stated('arguments', '{"a"')], 'the first is written as it comes')
  const bytes = messageStreamOf([...begun, ...fragments, ...last])
  samePartsWhereverCut(t, open, { bytes, wholeAt: bytes.length })
})

t.test(
  'a text ends the calls before it, and at most as many calls can be open as tools can be declared',
  async (t) => {
    const events = [started(), block(use('c1')), block(use('c2'), 1), block({ type: 'text', text: 'x' }, 2)]
    t.same(read(...events).parts, [
      ...[tool('c1'), stated('arguments', '{}'), tool('c2'), stated('arguments', '{}'), stated('text', 'x')],
    ])
    const many = Array.from({ length: TOOLS_MAX }, (_, nth) => block(use(`c${nth}`), nth))
    t.equal(read(started(), ...many).failure, null)
    t.match(read(started(), ...many, block(use('c'), TOOLS_MAX)).failure, { name: 'upstream_invalid' })
    const again = [block(use('c1')), block(use('c2')), json('{"a":1}'), stopped({}, 'tool_use'), STOP]
    t.same(read(started(), ...again).parts.slice(0, 4), [
      ...[tool('c1'), stated('arguments', '{}'), tool('c2'), stated('arguments', '{"a":1}')],
    ])
  },
)

t.test('blocks, deltas and events of other types give no parts', async (t) => {
  const events = [
    ...[
      started(),
      block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      json('{"q":1}'),
    ],
    ...[blockEnd(), block({ type: 'web_search_tool_result', content: [{ type: 'x' }] }, 1), blockEnd(1)],
    ...[
      block({ type: 'text', text: 'x' }, 2),
      delta({ type: 'citations_delta', citation: {} }, 2),
      { new: 1 },
    ],
    ...[{ type: 'ping' }, blockEnd(2), stopped(), STOP],
  ]
  t.same(read(...events).parts, [stated('text', 'x'), finish('stop', 'end_turn')])
})

t.test('gives the reason why an answer ended', async (t) => {
  const cases: readonly (readonly [string | null, string, string])[] = [
    ['max_tokens', 'length', 'max_tokens'],
    ['model_context_window_exceeded', 'length', 'model_context_window_exceeded'],
    ['refusal', 'content_filter', 'refusal'],
    ['pause_turn', 'stop', 'pause_turn'],
    [null, 'stop', 'end_turn'],
  ]
  for (const [word, reason, native] of cases) {
    const events = [started(), block({ type: 'text', text: 'x' }), blockEnd(), stopped({}, word), STOP]
    t.same(read(...events).parts.at(-1), finish(reason, native))
  }
  const stop = { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: '\n' } }
  t.same(read(started(), stop, STOP).parts, [finish('stop', 'stop_sequence', '\n')])
})

t.test('usage: cached tokens are not part of the input, and later figures are totals', async (t) => {
  const input = { input_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 3 }
  const output = { output_tokens: 9, output_tokens_details: { thinking_tokens: 2 } }
  const { usage } = read(
    started({}, { ...input, output_tokens: 1 }),
    stopped({ ...input, output_tokens: 4 }, null),
    stopped(output),
    STOP,
  )
  t.match(usage, { input: 7, cacheRead: 5, cacheWrite: 3, output: 7, reasoning: 2 })
  t.same(whole([], { usage: { ...input, ...output } })?.usage, usage)
})

t.test('a stream gives the same parts however it is split into reads', (t) => {
  const events = [
    ...ANSWER.slice(0, 5),
    ...[block(use('c1'), 1), json('{"é":"😀"}', 1), blockEnd(1)],
    ...[block({ type: 'redacted_thinking', data: 'R' }, 2), blockEnd(2), stopped(), STOP],
  ]
  for (const lineEnd of ['\n', '\r\n']) {
    const bytes = messageStreamOf(events, lineEnd)
    samePartsWhereverCut(t, open, { bytes, wholeAt: bytes.length - (lineEnd === '\n' ? 0 : 1) })
  }
  t.end()
})

t.test('refuses bodies that are not a whole message', async (t) => {
  for (const body of ['', '[]', '{}', '{"type":"message"}', '{"type":"message","content":"x"}'])
    t.equal(orNull(messageWhole(Buffer.from(body))), null, body)
  t.equal(whole([], { type: 'error' }), null)
  t.equal(whole([], { error: { message: 'x' } }), null)
  t.equal(whole([{ text: 'x' }]), null)
  t.same(whole([{ type: 'text', text: 'x' }], { stop_reason: 'end_turn' }), {
    parts: [stated('text', 'x'), finish('stop', 'end_turn')],
    usage: null,
    reported: {},
    outputBytes: 1,
    finishReason: 'end_turn',
    upstreamId: 'msg_1',
  })
  t.same(read(started(), block({ type: 'text', text: 'x' }), ...ended).upstreamId, 'msg_up1')
})
