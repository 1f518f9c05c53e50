/** Streams of chat in the internal form, hostile ones first; `chat-calls.test.ts` has the calls of tools. */
import t from 'tap'
import { BARE_EVENTS_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { chatWhole } from '../../../src/dialects/chat/parts.ts'
import {
  call,
  f,
  finish,
  one,
  openChatParts as open,
  readChatParts as read,
  stated,
  STOP,
  tool,
} from '../../support/inference/chat-parts.ts'
import { joinedParts, partsOf, samePartsWhereverCut } from '../../support/inference/cut-parts.ts'
import { streamOf } from '../../support/inference/provider-chunks.ts'
import { PROVIDER_ANSWERS, PROVIDER_STREAMS } from '../../support/inference/provider-streams.ts'
import { orNull } from '../../support/must.ts'

t.test('an event is invalid if it is not an object or a known member has a wrong type', async (t) => {
  const events: readonly (object | string)[] = [
    '{',
    '[]',
    '7',
    'null',
    '{"choices":{}}',
    '{"choices":[7]}',
    ...[7, [], true].flatMap((wrong) => [
      one({ reasoning: wrong }),
      one({ refusal: wrong }),
      one({ reasoning_content: wrong }),
      one({ tool_calls: [{ index: 0, id: wrong }] }),
      one({ tool_calls: [{ function: { name: wrong } }] }),
      one({}, { finish_reason: wrong }),
    ]),
    one({ content: 7 }),
    one({ content: {} }),
    one({ tool_calls: {} }),
    one({ tool_calls: ['x'] }),
    one({ tool_calls: [{ index: -1 }] }),
    one({ tool_calls: [{ function: { arguments: 7 } }] }),
    one({ reasoning_details: [{ type: 'reasoning.text', text: 7 }] }),
    one({}, { index: 1.5 }),
    { choices: [{ index: 0, delta: 'x' }] },
  ]
  for (const event of events) {
    const { failure, parts } = read(one({ content: 'x' }), event, one({ content: 'y' }))
    t.match(failure, { name: 'upstream_invalid' }, JSON.stringify(event))
    t.same(parts, [stated('text', 'x')])
  }
})

t.test('a second choice makes a stream invalid', async (t) => {
  t.match(read(one({ content: 'x' }), one({ content: 'y' }, { index: 1 })).failure, {
    name: 'upstream_invalid',
  })
})

t.test('a finish reason in each chunk does not end the answer, and the last one counts', async (t) => {
  const chunk = (delta: object, reason: string): object => one(delta, { finish_reason: reason })
  const text = [chunk({ content: 'Hi' }, 'stop'), chunk({ content: ' you' }, 'length')]
  const calls = [
    chunk({ tool_calls: [{ index: 0, id: 'c1', function: f('{"a"', 'f') }] }, 'tool_calls'),
    chunk({ tool_calls: [{ index: 0, function: f(':1}') }] }, 'tool_calls'),
    chunk({ tool_calls: [{ index: 1, id: 'c2', function: f('', 'g') }] }, 'stop'),
  ]
  const called = [tool('c1'), stated('arguments', '{"a":1}'), tool('c2', 'g'), stated('arguments', '{}')]
  const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
  for (const more of [[], [usage], [usage, '[DONE]'], ['[DONE]']]) {
    const given = read(...text, ...more)
    t.same([given.failure, given.end], [null, null])
    t.same(joinedParts(given.parts), [stated('text', 'Hi you'), finish('length')])
    t.equal(given.finishReason, 'length')
    t.same(joinedParts(read(...calls, ...more).parts), [...called, finish('tool_calls', 'stop')])
  }
})

t.test('a legacy function_call is a tool call, in fragments, whole, and next to the same call', async (t) => {
  const legacy = (name: string | undefined, json: unknown): object => one({ function_call: f(json, name) })
  const ended = one({}, { finish_reason: 'function_call' })
  const expected = [
    { kind: 'tool', name: 'f' },
    stated('arguments', '{"a":1}'),
    finish('tool_calls', 'function_call'),
  ]
  for (const events of [
    [legacy('f', '{"a":1}')],
    [legacy('f', ''), legacy(undefined, '{"a"'), legacy(undefined, ':1}')],
    [legacy('f', '{"a"'), legacy('f', ':1}')],
    [legacy('f', { a: 1 })],
  ])
    t.match(joinedParts(read(...events, ended).parts), expected)
  const both = one({
    function_call: f('{}', 'f'),
    tool_calls: [{ index: 0, id: 'c', function: f('{}', 'f') }],
  })
  t.same(read(both, STOP).parts, [tool('c'), stated('arguments', '{}'), finish('tool_calls', 'stop')])
  t.same(read(one({ content: 'x', function_call: null }), STOP).parts, [stated('text', 'x'), finish('stop')])
  const message = { content: null, function_call: f('{"a":1}', 'f') }
  const whole = orNull(
    chatWhole(Buffer.from(JSON.stringify({ choices: [{ message, finish_reason: 'function_call' }] }))),
  )
  t.match(whole?.parts, expected)
})

t.test('an error in any form ends the stream, after the parts before it', async (t) => {
  const error = { message: 'slow down', code: 429 }
  for (const event of [{ error }, one({}, { finish_reason: 'error' }), { ...one({ content: 'y' }), error }]) {
    const { failure, parts } = read(one({ content: 'x' }), event)
    t.match(failure, { name: /^upstream_(?:overloaded|failed)$/ })
    t.same(parts, [stated('text', 'x')])
  }
  const named = Buffer.from('event: error\ndata: {"message":"x","code":400}\n\n')
  t.match(partsOf(open(), [named]).failure, { name: 'upstream_refused' })
  t.equal(read({ error: null, ...one({ content: 'x' }) }, { error: false }).failure, null)
})

t.test('a stream is whole only when its choice has ended', async (t) => {
  const cases: readonly (readonly [readonly (object | string)[], boolean])[] = [
    [[], false],
    [['[DONE]'], false],
    [[one({ content: 'x' })], false],
    [[one({ content: 'x' }), '[DONE]'], false],
    [[one({ content: 'x' }, { finish_reason: '' }), '[DONE]'], false],
    [[one({ content: 'x' }, { finish_reason: 'stop' })], true],
    [[one({ content: 'x' }), STOP, '[DONE]'], true],
  ]
  for (const [events, isWhole] of cases) t.equal(read(...events).end === null, isWhole)
})

t.test('reads reasoning from each of its members, once', async (t) => {
  const claude = 'anthropic-claude-v1'
  const gemini = 'google-gemini-v1'
  const detailed = one({
    reasoning: 'a',
    reasoning_details: [
      { type: 'reasoning.text', text: 'a', format: claude, index: 0 },
      { type: 'reasoning.text', signature: 'S', format: claude, index: 0 },
      { type: 'reasoning.encrypted', data: 'R', format: claude },
      { type: 'reasoning.summary', summary: 'b' },
      { type: 'reasoning.encrypted', data: 'E', format: 'openai-responses-v1', id: 'rs_1' },
      { type: 'reasoning.encrypted', data: 'G', format: gemini, id: 'c1' },
      { type: 'reasoning.server_tool_call', index: 9 },
    ],
    tool_calls: [{ index: 0, id: 'c1', function: f('{}', 'f') }],
  })
  const late = { type: 'reasoning.encrypted', data: 'H', format: gemini, id: 'c2' }
  const events = [
    one({ reasoning_content: 'r', reasoning: 'r' }),
    detailed,
    call({ index: 1, id: 'c2', function: f('{}', 'g') }),
    one({ reasoning_details: [late] }),
    STOP,
  ]
  const signed = (format: string, data: string, of: string): object => ({
    kind: 'signature',
    choice: 0,
    signature: { format, data },
    of,
  })
  t.same(read(...events).parts, [
    stated('reasoning', 'r'),
    stated('reasoning', 'a'),
    signed(claude, 'S', 'reasoning'),
    signed(claude, 'R', 'redacted'),
    { ...stated('reasoning', 'b'), isSummary: true },
    signed('openai-responses-v1', 'E', 'reasoning'),
    tool('c1'),
    stated('arguments', '{}'),
    signed(gemini, 'G', 'call'),
    tool('c2', 'g'),
    stated('arguments', '{}'),
    signed(gemini, 'H', 'call'),
    finish('tool_calls', 'stop'),
  ])
})

t.test('reads a list of content and a refusal, and ignores unknown members', async (t) => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'h' }, { type: 'reference' }] },
    { type: 'text', text: 'x' },
    { type: 'reference', reference_ids: [1] },
  ]
  const given = read(one({ content: parts, audio: { id: 'a' } }), one({ refusal: 'No.' }), { new: 1 }, STOP)
  t.same(given.parts, [
    stated('reasoning', 'h'),
    stated('text', 'x'),
    stated('refusal', 'No.'),
    finish('stop'),
  ])
  t.equal(given.outputBytes, 5)
})

t.test('gives the reason why an answer ended', async (t) => {
  const cases: readonly (readonly [object, string, string, string | null])[] = [
    [{ finish_reason: 'length' }, 'length', 'length', null],
    [{ finish_reason: 'model_length' }, 'length', 'model_length', null],
    [{ finish_reason: 'content_filter' }, 'content_filter', 'content_filter', null],
    [{ finish_reason: 'eos', native_finish_reason: 'EOS' }, 'stop', 'EOS', null],
    [{ finish_reason: 'stop', stop_reason: '\n\n' }, 'stop', 'stop', '\n\n'],
    [{ finish_reason: 'stop', stop_reason: 128_009 }, 'stop', 'stop', null],
  ]
  for (const [more, reason, native, stopSequence] of cases)
    t.match(read(one({ content: 'x' }, more)).parts[1], { reason, native, stopSequence })
})

t.test('usage is read from any event, also after the end, and the last usage counts', async (t) => {
  const usage = (completion: number): object => ({
    usage: {
      prompt_tokens: 10,
      completion_tokens: completion,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  })
  const bucketed = { input: 5, cacheRead: 4, cacheWrite: 1, output: 3, reasoning: 2 }
  const first = { ...one({ content: 'x' }), ...usage(1) }
  t.same(read(first, STOP, { choices: [], ...usage(5) }, '[DONE]').usage, bucketed)
  t.same(read(first, one({}, { finish_reason: 'stop', ...usage(5) })).usage, bucketed)
  t.equal(read(first, STOP, { choices: [], ...usage(0) }).usage, null)
  t.equal(read(one({ content: 'x' }), STOP).usage, null)
})

t.test('a stream gives the same parts however it is split into reads', (t) => {
  const events = [
    one({ role: 'assistant', content: '', reasoning: 'é' }),
    call(
      { index: 0, id: 'c1', function: f('{"a":"😀"}', 'f') },
      { index: 1, id: 'c2', function: f('', 'g') },
    ),
    one({ content: 'x' }),
    one({}, { finish_reason: 'tool_calls' }),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    '[DONE]',
  ]
  for (const lineEnd of ['\n', '\r\n']) {
    const bytes = streamOf(events, lineEnd)
    const ended = bytes.indexOf('"tool_calls"}]')
    samePartsWhereverCut(t, open, { bytes, wholeAt: bytes.indexOf(lineEnd, ended) + lineEnd.length })
  }
  t.end()
})

t.test('the stream and the whole answer of every provider give the same parts', async (t) => {
  for (const [provider, events] of Object.entries(PROVIDER_STREAMS)) {
    const { parts, end } = read(...events)
    t.equal(end, null, provider)
    const isTool = provider.endsWith(' tool')
    const texts = isTool ? [stated('arguments', '{}')] : [stated('text', 'Hi there')]
    t.same(
      joinedParts(parts).filter(({ kind }) => kind !== 'finish' && kind !== 'tool' && kind !== 'reasoning'),
      texts,
      provider,
    )
    t.match(parts.at(-1), { kind: 'finish', reason: isTool ? 'tool_calls' : 'stop' }, provider)
  }
  for (const [provider, answer] of Object.entries(PROVIDER_ANSWERS)) {
    const whole = orNull(chatWhole(Buffer.from(JSON.stringify(answer))))
    const kinds = provider.endsWith(' tool') ? ['tool', 'arguments', 'finish'] : ['text', 'finish']
    t.same(
      whole?.parts.flatMap(({ kind }) => (kind === 'reasoning' ? [] : [kind])),
      kinds,
      provider,
    )
  }
})

t.test('refuses bodies that are not a whole answer', async (t) => {
  const message = { role: 'assistant', content: 'x' }
  const bodies = [
    '',
    '[]',
    '{}',
    '{"choices":[]}',
    JSON.stringify({ choices: [{ finish_reason: 'stop' }] }),
    JSON.stringify({ error: { message: 'x' } }),
    JSON.stringify({ error: { message: 'x' }, choices: [{ message }] }),
    JSON.stringify({ choices: [{ message, finish_reason: 'error' }] }),
    JSON.stringify({ choices: [{ message: { content: 7 } }] }),
  ]
  for (const body of bodies) t.equal(orNull(chatWhole(Buffer.from(body))), null, body)
  t.same(orNull(chatWhole(Buffer.from(JSON.stringify({ id: 'a', choices: [{ message }] })))), {
    parts: [stated('text', 'x'), finish('stop')],
    usage: null,
    reported: {},
    outputBytes: 1,
    finishReason: 'stop',
    upstreamId: 'a',
  })
})

t.test('a stream only awaits its usage once its choice has ended', async (t) => {
  const stream = open()
  const awaits = (...events: readonly (object | string)[]): boolean => {
    stream.read(streamOf(events))
    return stream.awaitsUsage
  }
  t.notOk(awaits(one({ content: 'x' })))
  t.ok(awaits(STOP))
  t.notOk(awaits({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }), 'it has come')
})

t.test('a stream fails when the provider sends too many events without output', async (t) => {
  const stream = open()
  const empty = streamOf(Array.from({ length: BARE_EVENTS_MAX / 4 }, () => ({ choices: [] })))
  let reads = 0
  while (stream.read(empty).failure === null) reads++
  t.ok(reads >= 4, 'so many may come at once')
  t.match(stream.end(), { name: 'upstream_invalid' })
})
