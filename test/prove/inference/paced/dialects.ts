/** The forms of the paced provider and of its callers: a row for each. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { bodyOf } from '../../../support/inference/fake-stream.ts'
import {
  block,
  blockEnd,
  messageStreamOf,
  started,
  STOP,
  stopped,
  text,
} from '../../../support/inference/message-events.ts'
import { messageStream, USAGE } from '../../../support/inference/responses-streams.ts'
import type { Proof } from '../../proof.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** Four bytes: a token by the measure of an endpoint that has taught nothing else. */
export const WORD = ' abc'
/** Tokens of every prompt, as the provider reports them. */
export const PROMPT_TOKENS = 20

/** A form in which callers call, and read. */
export interface PacedCaller {
  readonly name: Dialect
  /** Follows `/api/v1` of the node. */
  readonly path: string
  /** Members of a request. @param tokensMax absent: the least that the dialect takes */
  request(prompt: string, tokensMax?: number): object
  /** Stands in the caller's line of a word, and in no other. */
  readonly received: string
  /** The caller's line that only a whole stream has. */
  readonly terminator: string
}

/** A form in which the provider answers. */
export interface PacedProtocol {
  readonly name: TextProtocol
  /** Ends the path of the provider. */
  readonly path: string
  /** The prompt of a request's body. */
  promptOf(body: Readonly<Record<string, unknown>>): string
  /** What the provider sends before the first word. @param hasUsage it reports tokens */
  begin(hasUsage: boolean): string
  /** The event of the word with this number, the first one being 1. */
  word(nth: number): string
  /** What the provider sends after the last word. @param reported reported tokens of the answer; null: none */
  end(words: number, reported: number | null): string
  /** The word for the end of such an answer. */
  readonly finish: string
}

export type PacedDialect = PacedCaller & PacedProtocol & { readonly name: Dialect }

const CHAT_HEAD =
  '{"id":"chatcmpl-paced","object":"chat.completion.chunk","created":1700000000,"model":"paced"'

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${CHAT_HEAD},"choices":${JSON.stringify(choices)}}\n\n`
}

function chatUsage(completion: number): string {
  const counts = { prompt_tokens: PROMPT_TOKENS, completion_tokens: completion }
  const usage = { ...counts, total_tokens: PROMPT_TOKENS + completion }
  return `data: ${CHAT_HEAD},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`
}

const CHAT_WORD = chunk({ content: WORD })

const chat: PacedDialect = {
  name: 'chat',
  path: '/chat/completions',
  request: (content, tokensMax) => ({
    messages: [{ role: 'user', content }],
    ...(tokensMax === undefined ? null : { max_tokens: tokensMax }),
  }),
  promptOf: lastContent,
  begin: () => chunk({ role: 'assistant', content: '' }),
  word: () => CHAT_WORD,
  end: (_, reported) => `${chunk({}, 'stop')}${reported === null ? '' : chatUsage(reported)}data: [DONE]\n\n`,
  received: `"content":"${WORD}"`,
  terminator: 'data: [DONE]',
  finish: 'stop',
}

/** Events of a response before its first word. */
const PREFACE = 4
const RESPONSE = messageStream([WORD])
const RESPONSE_BEGIN = bodyOf(RESPONSE.slice(0, PREFACE)).toString()
const RESPONSE_WORD = bodyOf(RESPONSE.slice(PREFACE, PREFACE + 1)).toString()
const numberOf = (nth: number): string => `"sequence_number":${PREFACE + nth - 1}`

function responsesUsage(output: number): object {
  const counts = { input_tokens: PROMPT_TOKENS, output_tokens: output }
  return { ...USAGE, ...counts, total_tokens: PROMPT_TOKENS + output }
}

const responses: PacedDialect = {
  name: 'responses',
  path: '/responses',
  request: (input, tokensMax) => ({
    input,
    ...(tokensMax === undefined ? null : { max_output_tokens: tokensMax }),
  }),
  promptOf: ({ input }) => (typeof input === 'string' ? input : lastContent({ messages: input })),
  begin: () => RESPONSE_BEGIN,
  word: (nth) => RESPONSE_WORD.replace(numberOf(1), numberOf(nth)),
  end(words, reported) {
    const usage = reported === null ? null : responsesUsage(reported)
    return bodyOf(messageStream(Array<string>(words).fill(WORD), usage).slice(PREFACE + words)).toString()
  },
  received: `"delta":"${WORD}"`,
  terminator: 'event: response.completed',
  finish: 'completed',
}

/** A request of messages must say its maximum. */
const MESSAGE_TOKENS_MAX = 4_096
const MESSAGE_WORD = eventsOf(text(WORD))

const messages: PacedDialect = {
  name: 'messages',
  path: '/messages',
  request: (content, tokensMax = MESSAGE_TOKENS_MAX) => ({
    max_tokens: tokensMax,
    messages: [{ role: 'user', content }],
  }),
  promptOf: lastContent,
  begin: (hasUsage) =>
    eventsOf(
      started({}, hasUsage ? { input_tokens: PROMPT_TOKENS, output_tokens: 1 } : null),
      block({ type: 'text', text: '' }),
    ),
  word: () => MESSAGE_WORD,
  end: (_, logged) => eventsOf(blockEnd(), stopped(logged === null ? null : { output_tokens: logged }), STOP),
  received: `"text":"${WORD}"`,
  terminator: 'event: message_stop',
  finish: 'end_turn',
}

/** A chunk of Gemini. @param tokens of the answer so far */
function geminiChunk(parts: readonly object[], tokens: number | null, finish?: string): string {
  const counts = { promptTokenCount: PROMPT_TOKENS, candidatesTokenCount: tokens }
  const usage = tokens === null ? null : { usageMetadata: counts }
  const content = { parts, role: 'model' }
  const candidate = { content, ...(finish === undefined ? null : { finishReason: finish }), index: 0 }
  return `data: ${JSON.stringify({ candidates: [candidate], ...usage, responseId: 'gemini-paced' })}\r\n\r\n`
}

const gemini: PacedProtocol = {
  name: 'gemini',
  path: ':streamGenerateContent?alt=sse',
  promptOf: ({ contents }) =>
    String((contents as readonly { parts: readonly { text: unknown }[] }[]).at(-1)?.parts[0]?.text),
  begin: () => geminiChunk([{ text: '' }], null),
  word: (nth) => geminiChunk([{ text: WORD }], nth),
  end: (_, reported) => geminiChunk([{ text: '' }], reported, 'STOP'),
  finish: 'STOP',
}

/** Those of callers. */
export const PACED_DIALECTS = [chat, responses, messages] as const

/** A dialect by the seed of a proof. */
export function drawDialect(random: Proof['random']): PacedDialect {
  return PACED_DIALECTS[random(PACED_DIALECTS.length)] ?? chat
}

/** Those of the provider. */
export const PACED_PROTOCOLS: readonly PacedProtocol[] = [...PACED_DIALECTS, gemini]

/** A translation may write a text as the one part that it is. */
function lastContent({ messages: all }: Readonly<Record<string, unknown>>): string {
  const content = (all as readonly { content: unknown }[]).at(-1)?.content
  return Array.isArray(content) ? String((content[0] as { text: unknown }).text) : String(content)
}

function eventsOf(...events: readonly object[]): string {
  return messageStreamOf(events).toString()
}
