/** The forms of a streamed call: its path, its body, and what each event says. */
import { messageOf } from '../deployment/refusal-text.ts'
import { isObject, membersOf, type Members } from '../../src/schemas/values/members.ts'

export const DIALECTS = ['chat', 'responses', 'messages'] as const
export type Dialect = (typeof DIALECTS)[number]

/** What an event says of its stream. */
export interface EventNews {
  /** The model wrote: text, reasoning or a call of a tool. */
  readonly hasToken: boolean
  /** The answer is whole. */
  readonly isEnd: boolean
  /** Why the answer failed; null: it did not. */
  readonly error: string | null
  /** Tokens of the answer, as the provider counts them; null: the event has no count. */
  readonly tokens: number | null
}

export interface DialectFacts {
  /** Behind the base path of the API. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  body(call: { readonly model: string; readonly prompt: string; readonly answerTokens: number }): Members
  /** Members that a body of `--prompts` gets in place of its own. */
  readonly streamed: Members
  /** @param data of an event. @param name of its `event:` line; the empty string without one */
  news(data: string, name: string): EventNews
}

const SILENT: EventNews = { hasToken: false, isEnd: false, error: null, tokens: null }
const END: EventNews = { ...SILENT, isEnd: true }

export const DIALECT_FACTS: Readonly<Record<Dialect, DialectFacts>> = {
  chat: {
    path: '/chat/completions',
    headers: {},
    streamed: { stream: true, stream_options: { include_usage: true } },
    body: ({ model, prompt, answerTokens }) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: answerTokens,
    }),
    news: (data) => (data.trim() === '[DONE]' ? END : chatNews(objectOf(data))),
  },
  responses: {
    path: '/responses',
    headers: {},
    streamed: { stream: true },
    body: ({ model, prompt, answerTokens }) => ({ model, input: prompt, max_output_tokens: answerTokens }),
    news: (data) => (data.trim() === '[DONE]' ? SILENT : responsesNews(objectOf(data))),
  },
  messages: {
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    streamed: { stream: true },
    body: ({ model, prompt, answerTokens }) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: answerTokens,
    }),
    news: (data) => messagesNews(objectOf(data)),
  },
}

/** Members of a delta of chat in which a model writes. */
const WRITTEN = [
  'content',
  'reasoning',
  'reasoning_content',
  'refusal',
  'tool_calls',
  'audio',
  'images',
] as const

function chatNews(event: Members): EventNews {
  const { error, choices, usage } = event
  if (error !== undefined && error !== null) return { ...SILENT, error: failureText(error) }
  const deltas = Array.isArray(choices) ? choices.map((choice) => membersOf(membersOf(choice)['delta'])) : []
  return {
    ...SILENT,
    hasToken: deltas.some((delta) => WRITTEN.some((name) => isWritten(delta[name]))),
    tokens: countOf(membersOf(usage)['completion_tokens']),
  }
}

/** Types of events that end an answer of responses. */
const RESPONSE_ENDS = new Set(['response.completed', 'response.incomplete'])

function responsesNews(event: Members): EventNews {
  const { type, delta, response, error } = event
  if (type === 'error') return { ...SILENT, error: failureText(error ?? event) }
  if (type === 'response.failed') return { ...SILENT, error: failureText(membersOf(response)['error']) }
  const isEnd = typeof type === 'string' && RESPONSE_ENDS.has(type)
  return {
    ...SILENT,
    isEnd,
    hasToken: typeof type === 'string' && type.endsWith('.delta') && isWritten(delta),
    tokens: isEnd ? countOf(membersOf(membersOf(response)['usage'])['output_tokens']) : null,
  }
}

/** Members of a delta of messages in which a model writes. */
const BLOCK_TEXTS = ['text', 'thinking', 'partial_json'] as const

function messagesNews({ type, delta, usage, error }: Members): EventNews {
  if (type === 'error') return { ...SILENT, error: failureText(error) }
  const written = membersOf(delta)
  return {
    ...SILENT,
    isEnd: type === 'message_stop',
    hasToken: type === 'content_block_delta' && BLOCK_TEXTS.some((name) => isWritten(written[name])),
    tokens: type === 'message_delta' ? countOf(membersOf(usage)['output_tokens']) : null,
  }
}

function isWritten(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0
  return isObject(value)
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Events that are no JSON object say nothing; a stream of nothing else ends without an end. */
function objectOf(data: string): Members {
  try {
    return membersOf(JSON.parse(data))
  } catch {
    return {}
  }
}

function failureText(error: unknown): string {
  return messageOf(error) ?? 'no message'
}
