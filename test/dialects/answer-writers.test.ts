/** Each dialect's writer: what a client puts together of the stream is the whole answer. */
import fc from 'fast-check'
import t from 'tap'
import { DIALECTS } from '../../src/schemas/inference/text-request.ts'
import { eventsIn, type Members } from '../support/inference/accumulated.ts'
import { WRITTEN_PARTS } from '../support/inference/random-parts.ts'
import { bothOf, streamOfParts, wholeOfParts } from '../support/inference/written-answers.ts'
import { openRouterShapes } from '../support/wire/foreign-clients.ts'
import type { WrittenPart } from '../../src/dialects/parts.ts'

const RUNS = { numRuns: 60 }

t.test("a client assembles the whole answer from a stream, valid for OpenRouter's shapes", async (t) => {
  const shapes = await openRouterShapes()
  const checks = {
    chat: [shapes.chunk, shapes.answer],
    responses: [shapes.event, shapes.response],
    messages: [],
  } as const
  for (const dialect of DIALECTS)
    await fc.assert(
      fc.asyncProperty(WRITTEN_PARTS, fc.boolean(), async (made, isOriginal) => {
        const parts = isOriginal ? made.map(asOriginal) : made
        const stream = streamOfParts(dialect, parts)
        const answer = wholeOfParts(dialect, parts)
        const { put, stated } = await bothOf(dialect, stream, answer)
        t.hasStrict({ ...put, content: put['content'] ?? '' }, stated)
        // S knows functions alone in chat.
        const [checkEvent, checkAnswer] = isOriginal && dialect === 'chat' ? [] : checks[dialect]
        if (checkAnswer !== undefined) checkAnswer(answer)
        if (checkEvent !== undefined) eventsIn(stream).forEach((event) => checkEvent(event))
      }),
      RUNS,
    )
})

/** Callers of these two have tools that are no functions. */
function asOriginal(part: WrittenPart): WrittenPart {
  if (part.kind !== 'tool') return part
  return part.name === 'f' ? { ...part, isFreeform: true } : { ...part, namespace: 'crm' }
}

const part = (kind: 'text' | 'refusal' | 'reasoning' | 'arguments', text: string): WrittenPart => ({
  kind,
  choice: 0,
  text,
})
const summary = (text: string): WrittenPart => ({ kind: 'reasoning', choice: 0, text, isSummary: true })
const signed = (format: string, data: string, of: 'reasoning' | 'redacted' | 'call'): WrittenPart => ({
  kind: 'signature',
  choice: 0,
  signature: { format, data },
  of,
})
const tool = (id: string): WrittenPart => ({ kind: 'tool', choice: 0, id, name: 'look' })
const freeform = (id: string): WrittenPart => ({ ...tool(id), isFreeform: true }) as WrittenPart
const finish = (more: object = {}): WrittenPart => ({
  kind: 'finish',
  choice: 0,
  reason: 'stop',
  native: 'x',
  stopSequence: null,
  ...more,
})
const CLAUDE = 'anthropic-claude-v1'
const GEMINI = 'google-gemini-v1'
const OPENAI = 'openai-responses-v1'

t.test('chat: each block of reasoning is a separate entry, with a signature if its format has one', (t) => {
  const parts = [
    ...[part('reasoning', 'a'), part('reasoning', 'b'), signed(CLAUDE, 'S1', 'reasoning')],
    ...[signed(CLAUDE, 'S2', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[summary('c'), signed(OPENAI, 'E', 'reasoning'), signed(OPENAI, 'F', 'reasoning')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), part('reasoning', 'd'), finish()],
  ]
  const answer = wholeOfParts('chat', parts) as {
    readonly choices: readonly { readonly message: Members }[]
  }
  t.same(answer.choices[0]?.message['reasoning'], 'abcd')
  t.same(answer.choices[0]?.message['reasoning_details'], [
    { type: 'reasoning.text', text: 'ab', signature: 'S1', format: CLAUDE, index: 0 },
    { type: 'reasoning.text', text: '', signature: 'S2', format: CLAUDE, index: 1 },
    { type: 'reasoning.encrypted', data: 'R', format: CLAUDE, index: 2 },
    { type: 'reasoning.summary', summary: 'c', index: 3 },
    { type: 'reasoning.encrypted', data: 'E', format: OPENAI, index: 4 },
    { type: 'reasoning.encrypted', data: 'F', format: OPENAI, index: 5 },
    { type: 'reasoning.encrypted', data: 'G', id: 'c1', format: GEMINI, index: 6 },
    { type: 'reasoning.text', text: 'd', index: 7 },
  ])
  t.end()
})

t.test('chat: a refusal, and the finish reason of the provider', (t) => {
  const parts = [part('refusal', 'No.'), finish({ reason: 'content_filter', native: 'SAFETY "x"' })]
  const { choices } = wholeOfParts('chat', parts)
  t.match(choices, [
    {
      finish_reason: 'content_filter',
      native_finish_reason: 'SAFETY "x"',
      message: { content: null, refusal: 'No.' },
    },
  ])
  t.end()
})

t.test('arguments that are invalid JSON or nested too deeply become an empty tool input', async (t) => {
  const inputOf = (json: string): unknown => {
    const answer = wholeOfParts('messages', [tool('x'), part('arguments', json), finish()])
    return Reflect.get((answer['content'] as readonly object[])[0] ?? {}, 'input')
  }
  t.same(inputOf('{"a":{"b":1}}'), { a: { b: 1 } })
  for (const json of ['', '{"a', `${'['.repeat(100_000)}${']'.repeat(100_000)}`]) t.same(inputOf(json), {})
})

t.test('messages: own signatures are in their members, foreign ones in carriers', (t) => {
  const parts = [
    ...[part('reasoning', 'a'), signed(CLAUDE, 'S1', 'reasoning'), part('reasoning', 'b')],
    ...[signed(OPENAI, 'E', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), tool('c2'), part('arguments', '{"a":1}')],
    ...[part('text', 'x'), finish({ reason: 'tool_calls' })],
  ]
  const whole = wholeOfParts('messages', parts)
  t.same(whole['content'], [
    { type: 'thinking', thinking: 'a', signature: 'S1' },
    { type: 'thinking', thinking: 'b', signature: `sl1.${OPENAI}.E` },
    { type: 'redacted_thinking', data: 'R' },
    { type: 'tool_use', id: 'c1', name: 'look', input: {} },
    { type: 'thinking', thinking: '', signature: `sl1.${GEMINI}+call.G` },
    { type: 'tool_use', id: 'c2', name: 'look', input: { a: 1 } },
    { type: 'text', text: 'x' },
  ])
  t.equal(whole['stop_reason'], 'tool_use')
  t.end()
})

t.test('messages: gives the reason why an answer ended', (t) => {
  const cases: readonly (readonly [readonly WrittenPart[], string, string | null])[] = [
    [[finish()], 'end_turn', null],
    [[finish({ stopSequence: '\n' })], 'stop_sequence', '\n'],
    [[finish({ reason: 'length', stopSequence: '\n' })], 'max_tokens', null],
    [[finish({ reason: 'content_filter' })], 'refusal', null],
    [[part('refusal', 'No.'), finish()], 'refusal', null],
    [[part('refusal', 'No.'), finish({ reason: 'length' })], 'max_tokens', null],
  ]
  for (const [parts, stop_reason, stop_sequence] of cases) {
    t.match(wholeOfParts('messages', parts), { stop_reason, stop_sequence })
    t.match(eventsIn(streamOfParts('messages', parts)).at(-2), { delta: { stop_reason, stop_sequence } })
  }
  t.end()
})

t.test('responses: includes signatures only if the request asks for them', (t) => {
  const parts = [
    ...[summary('a'), signed(OPENAI, 'E', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[summary('b'), signed(CLAUDE, 'S', 'reasoning')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), finish({ reason: 'tool_calls' })],
  ]
  const stated = (text: string): object[] => [{ type: 'summary_text', text }]
  const asked = wholeOfParts('responses', parts)
  t.match(asked['output'], [
    { type: 'reasoning', summary: stated('a'), encrypted_content: `sl1.${OPENAI}.E` },
    { type: 'reasoning', summary: [], encrypted_content: `sl1.${CLAUDE}+redacted.R` },
    { type: 'reasoning', summary: stated('b'), encrypted_content: `sl1.${CLAUDE}.S` },
    { type: 'function_call', call_id: 'c1' },
    { type: 'reasoning', summary: [], encrypted_content: `sl1.${GEMINI}+call.G` },
  ])
  const plain = wholeOfParts('responses', parts, {})
  t.match(plain['output'], [
    { type: 'reasoning', summary: stated('a') },
    { type: 'reasoning', summary: stated('b') },
    { type: 'function_call', call_id: 'c1' },
  ])
  t.notOk(JSON.stringify(plain).includes('encrypted_content'))
  t.end()
})

t.test('chat: the call of a freeform tool has a text as its input', (t) => {
  const parts = [freeform('c1'), part('arguments', 'a"'), part('arguments', 'b'), tool('c2'), finish()]
  const { choices } = wholeOfParts('chat', parts)
  t.match(choices, [
    {
      message: {
        tool_calls: [
          { id: 'c1', type: 'custom', custom: { name: 'look', input: 'a"b' } },
          { id: 'c2', type: 'function', function: { name: 'look' } },
        ],
      },
    },
  ])
  const deltas = eventsIn(streamOfParts('chat', parts)).flatMap(
    ({ choices }) => (choices as { delta: { tool_calls?: object[] } }[])[0]?.delta.tool_calls ?? [],
  )
  t.same(deltas.slice(0, 3), [
    { index: 0, id: 'c1', type: 'custom', custom: { name: 'look', input: '' } },
    { index: 0, custom: { input: 'a"' } },
    { index: 0, custom: { input: 'b' } },
  ])
  t.end()
})

t.test('responses: a freeform call has its own event kinds; a namespaced call names its namespace', (t) => {
  const parts = [
    ...[freeform('c1'), part('arguments', 'a'), part('arguments', 'b')],
    ...[{ ...tool('c2'), namespace: 'crm' }, part('arguments', '{}'), finish()],
  ]
  const events = eventsIn(streamOfParts('responses', parts))
  const own = events.filter(({ type }) => String(type).startsWith('response.custom_tool_call_input'))
  t.match(own, [
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'a' },
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'b' },
    { type: 'response.custom_tool_call_input.done', output_index: 0, input: 'ab' },
  ])
  t.match(wholeOfParts('responses', parts)['output'], [
    { type: 'custom_tool_call', call_id: 'c1', name: 'look', input: 'ab' },
    { type: 'function_call', call_id: 'c2', name: 'look', namespace: 'crm', arguments: '{}' },
  ])
  t.end()
})

t.test('responses: a refusal has its own event kinds, and a cut-off answer gives the reason', (t) => {
  const parts = [part('refusal', 'No'), part('refusal', '.'), finish({ reason: 'content_filter' })]
  const events = eventsIn(streamOfParts('responses', parts))
  const types = events.map(({ type }) => String(type).replace('response.', ''))
  t.same(types, [
    ...['created', 'in_progress', 'output_item.added', 'content_part.added'],
    ...['refusal.delta', 'refusal.delta', 'refusal.done', 'content_part.done', 'output_item.done'],
    'incomplete',
  ])
  t.same(
    events.map(({ sequence_number }) => sequence_number),
    [...events.keys()],
  )
  t.match(events.at(-1), {
    response: {
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [{ type: 'message', status: 'incomplete', content: [{ type: 'refusal', refusal: 'No.' }] }],
    },
  })
  t.end()
})

t.test('each further text of a block or item is written like the first one, byte by byte', (t) => {
  const deltas = (bytes: Uint8Array): readonly string[] =>
    Buffer.from(bytes)
      .toString()
      .split('\n\n')
      .filter((event) => /^event: \S*delta\n/.test(event))
      .map((event) => event.replace(/"sequence_number":\d+/, '"sequence_number":N'))
  for (const dialect of ['messages', 'responses'] as const)
    for (const kind of ['text', 'refusal', 'reasoning', 'arguments'] as const) {
      const parts = [part(kind, '"é'), part(kind, 'b\n')]
      const [first = '', second] = deltas(
        streamOfParts(dialect, kind === 'arguments' ? [tool('x'), ...parts, finish()] : [...parts, finish()]),
      )
      t.equal(second, first.replace('"\\"é"', '"b\\n"'), `${dialect}: ${kind}`)
      t.not(second, first)
    }
  t.end()
})
