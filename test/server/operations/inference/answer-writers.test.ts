/** Each dialect's writer: what a client puts together of the stream is the whole answer. */
import fc from 'fast-check'
import t from 'tap'
import type { ShownUsage, WrittenPart } from '../../../../src/server/ports/inference/inference.ts'
import { ChatEvents, WholeChat } from '../../../../src/server/operations/inference/chat-answer.ts'
import { MessageEvents, WholeMessage } from '../../../../src/server/operations/inference/message-answer.ts'
import {
  ResponsesEvents,
  WholeResponse,
} from '../../../../src/server/operations/inference/responses-answer.ts'
import type { TextEvents, WholeText } from '../../../../src/server/operations/inference/text-replies.ts'
import {
  chatMessageOf,
  eventsIn,
  messageReader,
  responseOf,
  type Members,
} from '../../../support/inference/accumulated.ts'
import { WRITTEN_PARTS } from '../../../support/inference/random-parts.ts'
import { openRouterShapes } from '../../../support/wire/foreign-clients.ts'

const HEAD = { id: 'gen_1', createdS: 1_795_312_800, model: 'maker/one' }
const BY = {
  model: 'maker/one',
  provider: 'maker',
  isByok: false,
  isUnpriced: false,
  attempts: 1,
  dropped: [],
}
const usageOf = (usage: object): ShownUsage => ({ whole: JSON.stringify(usage), added: null })
const CHAT_USAGE = usageOf({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })
const RESPONSES_USAGE = usageOf({
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
})
const MESSAGES_USAGE = usageOf({ input_tokens: 1, output_tokens: 1 })
const ASKED = { isEncryptedAsked: true } as const
const RUNS = { numRuns: 200 }

function streamed(events: TextEvents, parts: readonly WrittenPart[], usage: ShownUsage): Buffer {
  events.begin(BY)
  return Buffer.concat([...parts.map((part) => events.eventsOf([part])), events.lastOf(usage)])
}

function wholeOf(text: WholeText, parts: readonly WrittenPart[], usage: ShownUsage): Members {
  text.begin(BY)
  for (const part of parts) text.add(part)
  return JSON.parse(JSON.stringify(text.answer(usage))) as Members
}

const chatOf = (parts: readonly WrittenPart[]): Buffer =>
  streamed(new ChatEvents(HEAD, { isUsageAlone: false }), parts, CHAT_USAGE)
const responsesOf = (parts: readonly WrittenPart[], asked: { isEncryptedAsked?: true } = ASKED): Buffer =>
  streamed(new ResponsesEvents(HEAD, asked), parts, RESPONSES_USAGE)
const messagesOf = (parts: readonly WrittenPart[]): Buffer =>
  streamed(new MessageEvents(HEAD, { promptWords: 1 }), parts, MESSAGES_USAGE)

t.test('chat: what `openai` puts together is the whole answer, and S takes both', async (t) => {
  const shapes = await openRouterShapes()
  await fc.assert(
    fc.asyncProperty(WRITTEN_PARTS, async (parts) => {
      const bytes = chatOf(parts)
      const answer = wholeOf(new WholeChat(HEAD), parts, CHAT_USAGE)
      const { message, finish_reason } = (answer['choices'] as readonly Members[])[0] as {
        readonly message: Members
        readonly finish_reason: string
      }
      const { reasoning = '', reasoning_details = [], refusal = null, tool_calls, content } = message
      const said = { refusal, tool_calls, finish_reason, reasoning, reasoning_details }
      const { content: put, ...joined } = await chatMessageOf(bytes)
      t.same(joined, said)
      t.equal(put ?? '', content ?? '')
      shapes.answer(answer)
      for (const event of eventsIn(bytes)) shapes.chunk(event)
    }),
    RUNS,
  )
})

t.test('responses: what `openai` puts together is the whole answer, and S takes both', async (t) => {
  const shapes = await openRouterShapes()
  await fc.assert(
    fc.asyncProperty(WRITTEN_PARTS, async (parts) => {
      const bytes = responsesOf(parts)
      const answer = wholeOf(new WholeResponse(HEAD, ASKED), parts, RESPONSES_USAGE)
      const put = await responseOf(bytes)
      for (const name of ['status', 'incomplete_details']) t.same(put[name], answer[name])
      t.hasStrict(put['output'], answer['output'])
      shapes.response(answer)
      for (const event of eventsIn(bytes)) shapes.event(event)
    }),
    RUNS,
  )
})

t.test("messages: what Anthropic's client puts together is the whole answer", async (t) => {
  const messageOf = await messageReader()
  await fc.assert(
    fc.asyncProperty(WRITTEN_PARTS, async (parts) => {
      const { usage: _, ...answer } = wholeOf(new WholeMessage(HEAD), parts, MESSAGES_USAGE)
      t.hasStrict(JSON.parse(JSON.stringify(await messageOf(messagesOf(parts)))), answer)
    }),
    RUNS,
  )
})

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

t.test('chat: each block of reasoning is an entry of its own, a signature where its format has it', (t) => {
  const parts = [
    ...[part('reasoning', 'a'), part('reasoning', 'b'), signed(CLAUDE, 'S1', 'reasoning')],
    ...[signed(CLAUDE, 'S2', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[summary('c'), signed(OPENAI, 'E', 'reasoning'), signed(OPENAI, 'F', 'reasoning')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), part('reasoning', 'd'), finish()],
  ]
  const answer = wholeOf(new WholeChat(HEAD), parts, CHAT_USAGE) as {
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

t.test('chat: a refusal, and why the provider stopped in its own word', (t) => {
  const parts = [part('refusal', 'No.'), finish({ reason: 'content_filter', native: 'SAFETY "x"' })]
  const { choices } = wholeOf(new WholeChat(HEAD), parts, CHAT_USAGE)
  t.match(choices, [
    {
      finish_reason: 'content_filter',
      native_finish_reason: 'SAFETY "x"',
      message: { content: null, refusal: 'No.' },
    },
  ])
  t.end()
})

t.test('messages: signatures in their members, foreign ones in carriers', (t) => {
  const parts = [
    ...[part('reasoning', 'a'), signed(CLAUDE, 'S1', 'reasoning'), part('reasoning', 'b')],
    ...[signed(OPENAI, 'E', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), tool('c2'), part('arguments', '{"a":1}')],
    ...[part('text', 'x'), finish({ reason: 'tool_calls' })],
  ]
  const whole = wholeOf(new WholeMessage(HEAD), parts, MESSAGES_USAGE)
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

t.test('messages: why an answer ended', (t) => {
  const cases: readonly (readonly [readonly WrittenPart[], string, string | null])[] = [
    [[finish()], 'end_turn', null],
    [[finish({ stopSequence: '\n' })], 'stop_sequence', '\n'],
    [[finish({ reason: 'length', stopSequence: '\n' })], 'max_tokens', null],
    [[finish({ reason: 'content_filter' })], 'refusal', null],
    [[part('refusal', 'No.'), finish()], 'refusal', null],
    [[part('refusal', 'No.'), finish({ reason: 'length' })], 'max_tokens', null],
  ]
  for (const [parts, stop_reason, stop_sequence] of cases) {
    t.match(wholeOf(new WholeMessage(HEAD), parts, MESSAGES_USAGE), { stop_reason, stop_sequence })
    t.match(eventsIn(messagesOf(parts)).at(-2), { delta: { stop_reason, stop_sequence } })
  }
  t.end()
})

t.test('responses: signatures only where the request asks for them', (t) => {
  const parts = [
    ...[summary('a'), signed(OPENAI, 'E', 'reasoning'), signed(CLAUDE, 'R', 'redacted')],
    ...[summary('b'), signed(CLAUDE, 'S', 'reasoning')],
    ...[tool('c1'), signed(GEMINI, 'G', 'call'), finish({ reason: 'tool_calls' })],
  ]
  const said = (text: string): object[] => [{ type: 'summary_text', text }]
  const asked = wholeOf(new WholeResponse(HEAD, ASKED), parts, RESPONSES_USAGE)
  t.match(asked['output'], [
    { type: 'reasoning', summary: said('a'), encrypted_content: 'E' },
    { type: 'reasoning', summary: [], encrypted_content: `sl1.${CLAUDE}+redacted.R` },
    { type: 'reasoning', summary: said('b'), encrypted_content: `sl1.${CLAUDE}.S` },
    { type: 'function_call', call_id: 'c1' },
    { type: 'reasoning', summary: [], encrypted_content: `sl1.${GEMINI}+call.G` },
  ])
  const plain = wholeOf(new WholeResponse(HEAD, {}), parts, RESPONSES_USAGE)
  t.match(plain['output'], [
    { type: 'reasoning', summary: said('a') },
    { type: 'reasoning', summary: said('b') },
    { type: 'function_call', call_id: 'c1' },
  ])
  t.notOk(JSON.stringify(plain).includes('encrypted_content'))
  t.end()
})

t.test('responses: a refusal has events of its own; an answer that was cut says why', (t) => {
  const parts = [part('refusal', 'No'), part('refusal', '.'), finish({ reason: 'content_filter' })]
  const events = eventsIn(responsesOf(parts))
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
