/** How providers of each protocol report their usage within answers, streamed and whole. */
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import { block, blockEnd, started, STOP, stopped, text } from '../../../support/inference/message-events.ts'
import { messageEvents, named, numbered, RESPONSE } from '../../../support/inference/responses-streams.ts'
import {
  CHAT_MEDIA,
  chatUsage,
  geminiUsage,
  messagesUsage,
  responsesUsage,
  type Answer,
  type Tokens,
} from '../cost-oracle.ts'
import { countOf } from '../../../../src/dialects/usage.ts'
import { MEDIA_KINDS } from '../../../../src/schemas/money/costs.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export type Members = Readonly<Record<string, unknown>>

/** What every answer says: there is output, so that none in the figures is a mistake. */
export const SAIDOnce = ['Hi', ' there']

export interface Telling extends Answer {
  readonly protocol: TextProtocol
  usage(tokens: Tokens): object
  /** Without a usage it is missing. */
  whole(usage: object | null): object
  /** Ways to report it in a stream, which must all give the same. */
  readonly streams: readonly ((usage: object | null) => readonly FakeEvent[])[]
  /** Names of the figures without which no usage is reported. */
  readonly sums: readonly string[]
}

/** The same figures half way through an answer; a value that is not a count stays. */
function halfOf(value: unknown): unknown {
  if (countOf(value) !== null) return Math.floor(Number(value) / 2)
  if (Array.isArray(value)) return value.map(halfOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, halfOf(member)]))
}

const reportedBy = (name: string, usage: object | null): object => (usage === null ? {} : { [name]: usage })
const lines = (events: readonly object[]): readonly FakeEvent[] =>
  events.map((event) => ({ data: JSON.stringify(event) }))
const byType = (events: readonly object[]): readonly FakeEvent[] =>
  events.map((event) => ({ event: String((event as Members)['type']), data: JSON.stringify(event) }))

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_795_312_800, model: 'm' }
const chunk = (delta: object, finish: string | null, more: object = {}): object => ({
  ...{ ...CHUNK, choices: [{ index: 0, delta, finish_reason: finish }] },
  ...more,
})
const DONE: FakeEvent = { data: '[DONE]' }

const CHAT: Telling = {
  protocol: 'chat',
  hasSearches: true,
  media: CHAT_MEDIA,
  sums: ['prompt_tokens', 'completion_tokens'],
  usage: chatUsage,
  whole: (usage) => ({
    ...{ ...CHUNK, object: 'chat.completion' },
    choices: [
      { index: 0, message: { role: 'assistant', content: SAIDOnce.join('') }, finish_reason: 'stop' },
    ],
    ...reportedBy('usage', usage),
  }),
  streams: [
    // OpenAI: after the end.
    (usage) => [
      ...lines([...SAIDOnce.map((content) => chunk({ content }, null, { usage: null })), chunk({}, 'stop')]),
      ...lines([{ ...CHUNK, choices: [], ...reportedBy('usage', usage) }]),
      DONE,
    ],
    // Others: in each chunk, all so far; the last one ends the answer.
    (usage) => [
      ...lines(
        SAIDOnce.map((content) =>
          chunk({ content }, null, reportedBy('usage', halfOf(usage) as object | null)),
        ),
      ),
      ...lines([chunk({}, 'stop', reportedBy('usage', usage))]),
      DONE,
    ],
    // Moonshot: within the choice.
    (usage) => [
      ...lines(SAIDOnce.map((content) => chunk({ content }, null))),
      ...lines([
        {
          ...CHUNK,
          choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...reportedBy('usage', usage) }],
        },
      ]),
      DONE,
    ],
  ],
}

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', text: SAIDOnce.join(''), annotations: [], logprobs: [] }],
}
const completed = (usage: object | null): object => ({
  ...{ ...RESPONSE, status: 'completed', completed_at: RESPONSE.created_at + 1, output: [MESSAGE] },
  usage,
})

const RESPONSES: Telling = {
  protocol: 'responses',
  sums: ['input_tokens', 'output_tokens'],
  usage: responsesUsage,
  whole: completed,
  streams: [
    (usage) =>
      named(
        numbered([
          { type: 'response.created', response: RESPONSE },
          ...messageEvents(SAIDOnce),
          { type: 'response.completed', response: completed(usage) },
        ]),
      ),
    // Servers that report their figures in each event with the response.
    (usage) =>
      named(
        numbered([
          { type: 'response.created', response: { ...RESPONSE, usage: halfOf(usage) } },
          ...messageEvents(SAIDOnce),
          { type: 'response.completed', response: completed(usage) },
        ]),
      ),
  ],
}

const WORDS = [block({ type: 'text', text: '' }), ...SAIDOnce.map((one) => text(one)), blockEnd()]
/** Figures of the prompt, which Anthropic reports at the beginning. */
function promptOf(usage: object | null): object | null {
  if (usage === null) return null
  const { output_tokens: _, output_tokens_details: __, server_tool_use: ___, ...prompt } = usage as Members
  return { ...prompt, output_tokens: 1 }
}
function answerOf(usage: object | null): object | null {
  if (usage === null) return null
  const { output_tokens, output_tokens_details, server_tool_use } = usage as Members
  return { output_tokens, output_tokens_details, server_tool_use }
}
const ZEROS = { input_tokens: 0, output_tokens: 0 }

const MESSAGES: Telling = {
  protocol: 'messages',
  hasHour: true,
  hasSearches: true,
  sums: ['output_tokens'],
  usage: messagesUsage,
  whole: (usage) => {
    const { message } = started() as { readonly message: Members }
    const content = [{ type: 'text', text: SAIDOnce.join('') }]
    return { ...message, content, stop_reason: 'end_turn', usage }
  },
  streams: [
    // Anthropic: the prompt first, the answer last.
    (usage) => byType([started({}, promptOf(usage)), ...WORDS, stopped(answerOf(usage)), STOP]),
    // Totals of everything, again and again.
    (usage) =>
      byType([
        started({}, promptOf(usage)),
        ...WORDS,
        ...(usage === null ? [] : [{ type: 'message_delta', delta: {}, usage: halfOf(usage) }]),
        stopped(usage),
        STOP,
      ]),
    // Gateways that know nothing at the begin.
    (usage) => byType([started({}, usage === null ? null : ZEROS), ...WORDS, stopped(usage), STOP]),
  ],
}

const GEMINI_HEAD = { modelVersion: 'gemini-fake-2026', responseId: 'gemini-fake-0001' }
const candidate = (stated: string, finish: string | null): object => ({
  candidates: [
    {
      ...{ index: 0, content: { role: 'model', parts: [{ text: stated }] } },
      ...(finish !== null && { finishReason: finish }),
    },
  ],
})

const GEMINI: Telling = {
  protocol: 'gemini',
  hasNoWrites: true,
  media: MEDIA_KINDS,
  sums: ['promptTokenCount'],
  usage: geminiUsage,
  whole: (usage) => ({
    ...candidate(SAIDOnce.join(''), 'STOP'),
    ...reportedBy('usageMetadata', usage),
    ...GEMINI_HEAD,
  }),
  streams: [
    // Google: in each chunk, of which the last counts.
    (usage) =>
      lines(
        SAIDOnce.map((text, nth) => ({
          ...candidate(text, nth === SAIDOnce.length - 1 ? 'STOP' : null),
          ...reportedBy('usageMetadata', (nth === 0 ? halfOf(usage) : usage) as object | null),
          ...GEMINI_HEAD,
        })),
      ),
    // After the end.
    (usage) =>
      lines([
        { ...candidate(SAIDOnce.join(''), 'STOP'), ...GEMINI_HEAD },
        ...(usage === null ? [] : [{ usageMetadata: usage, ...GEMINI_HEAD }]),
      ]),
  ],
}

export const TELLINGS: readonly Telling[] = [CHAT, RESPONSES, MESSAGES, GEMINI]
