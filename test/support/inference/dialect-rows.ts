/** The dialects of models that write, as rows: what a scenario that all of them share needs to know of each. */
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { openChatProvider, type ChatProviderFront, type ChatProviderOptions } from './chat-provider-front.ts'
import { answersChat, chatEvents, refusesChat } from './fake-chat.ts'
import { answersMessages, messageErrorEvent, messageEvents, refusesMessages } from './fake-messages.ts'
import type { FakeAnswer, FakeCall } from './fake-provider.ts'
import { answersResponses, responseEvents, tellsResponse } from './fake-responses.ts'
import { bodyOf, streams, type FakeEvent, type StreamPlan } from './fake-stream.ts'
import { named, RESPONSE } from './responses-streams.ts'
import type { Teardown } from '../teardown.ts'

export interface DialectRow {
  readonly name: Dialect
  /** Id of the operation. */
  readonly operation: string
  /** Below `/api/v1`. */
  readonly path: string
  /** A request with these texts of the user. */
  asks(model: string, ...texts: readonly string[]): Readonly<Record<string, unknown>>
  /** An honest answer: "Hello there, you". @param usage the reported tokens, instead of the true ones */
  answers(usage?: Unreported, plan?: StreamPlan): FakeAnswer
  /** Token figures that are not credible. */
  readonly unreported: readonly Unreported[]
  refuses(status: number, message?: string): FakeAnswer
  /** Streams that fail before their first output. */
  readonly failures: readonly FakeAnswer[]
  /** Stands once in the begin of each attempt's stream that is passed on. */
  readonly begin: RegExp
  /** Events of an honest stream up to its first word, with it. */
  readonly wordAt: number
  /** Bytes of an honest stream up to its second word. */
  readonly secondAt: number
  /** The text of a caller's stream. */
  stated(stream: string): string
  /** Stands in the end of a whole stream, and of no other. */
  readonly terminator: RegExp
  /** The event that reports a failure in a caller's stream, or null. */
  failureIn(stream: string): unknown
  /** The expected content of that event. @param error name of the failure @param code its status */
  failureOf(error: string, code: number): object
}

type Unreported = 'missing' | object

const WORDS: Readonly<Record<Dialect, RegExp>> = {
  chat: /"delta":\{"content":("(?:[^"\\]|\\.)*")/g,
  responses: /"type":"response\.output_text\.delta",[^\n]*?"delta":("(?:[^"\\]|\\.)*")/g,
  messages: /"type":"text_delta","text":("(?:[^"\\]|\\.)*")/g,
}

function statedIn(stream: string, words: RegExp): string {
  return [...stream.matchAll(words)].map(([, word = '""']) => JSON.parse(word) as string).join('')
}

function eventIn(stream: string, event: RegExp): unknown {
  const data = event.exec(stream)?.[1]
  return data === undefined ? null : (JSON.parse(data) as unknown)
}

/** As every streamed call of a chat is answered. D7. */
const CHAT_EVENTS = chatEvents({
  body: Buffer.from('{"stream_options":{"include_usage":true}}'),
} as unknown as FakeCall)

const chat: DialectRow = {
  name: 'chat',
  operation: 'chat.create',
  path: '/chat/completions',
  asks: (model, ...texts) => ({ model, messages: texts.map(userText) }),
  answers: (usage, plan) => answersChat(usage === undefined ? {} : { usage }, plan),
  unreported: ['missing', { prompt_tokens: -1, completion_tokens: 1.5 }],
  refuses: (status, message) => refusesChat(status, message === undefined ? {} : { message }),
  failures: [answersChat({ words: [] }, { cutAt: 300, ending: 'fin' })],
  begin: /"content":"Hello"/g,
  wordAt: wordIn(CHAT_EVENTS),
  secondAt: placeOf(CHAT_EVENTS),
  stated: (stream) => statedIn(stream, WORDS.chat),
  terminator: /\[DONE\]/,
  failureIn: (stream) => eventIn(stream, /data: ([^\n]*"error"[^\n]*)\n\n$/),
  failureOf: (error, code) => ({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    error: { code, type: error, message: String, metadata: { error_type: error, request_id: String } },
  }),
}

const FAILED = { ...RESPONSE, status: 'failed', error: { code: 'server_error', message: 'Oh.' } }
const failing = (type: string, more: object): FakeAnswer =>
  tellsResponse([...responseEvents().slice(0, 2), ...named([{ type, sequence_number: 2, ...more }])])

const responses: DialectRow = {
  name: 'responses',
  operation: 'responses.create',
  path: '/responses',
  asks: (model, ...texts) => ({ model, input: texts.length === 1 ? texts[0] : texts.map(userText) }),
  answers: (usage, plan) => answersResponses(usage === undefined ? {} : { usage }, plan),
  unreported: ['missing', { input_tokens: -1, output_tokens: 1.5 }],
  refuses: chat.refuses,
  failures: [
    answersResponses({ words: [] }, { cutAt: 2_000, ending: 'rst' }),
    failing('response.failed', { response: FAILED }),
    failing('error', { code: 'rate_limit_exceeded', message: 'x', param: null }),
  ],
  begin: /event: response\.created\n/g,
  wordAt: wordIn(responseEvents()),
  secondAt: placeOf(responseEvents()),
  stated: (stream) => statedIn(stream, WORDS.responses),
  terminator: /event: response\.(completed|incomplete|failed)/,
  failureIn: (stream) => eventIn(stream, /event: error\ndata: ([^\n]*)\n\n$/),
  failureOf: (error) => ({
    ...{ type: 'error', sequence_number: Number },
    ...{ code: error, message: String, param: null },
  }),
}

const messages: DialectRow = {
  name: 'messages',
  operation: 'messages.create',
  path: '/messages',
  asks: (model, ...texts) => ({ model, max_tokens: 200, messages: texts.map(userText) }),
  answers: (usage, plan) => answersMessages(usage === undefined ? {} : { usage }, plan),
  unreported: ['missing', { input_tokens: 0, output_tokens: 0 }, { input_tokens: -1, output_tokens: 1.5 }],
  refuses: (status, message) => refusesMessages(status, message === undefined ? {} : { message }),
  failures: [
    answersMessages({}, { cutAt: 400, ending: 'fin' }),
    streams([...messageEvents({ words: [] }).slice(0, 2), messageErrorEvent()]),
  ],
  begin: /event: message_start\n/g,
  wordAt: wordIn(messageEvents()),
  secondAt: placeOf(messageEvents()),
  stated: (stream) => statedIn(stream, WORDS.messages),
  terminator: /event: message_stop/,
  failureIn: responses.failureIn,
  failureOf: (error, code) => ({
    type: 'error',
    error: { type: /_error$/, code, message: String, metadata: { error_type: error, request_id: String } },
    request_id: String,
  }),
}

function userText(content: string): object {
  return { role: 'user', content }
}

/** Events up to the first word, with it. */
function wordIn(events: readonly FakeEvent[]): number {
  return events.findIndex(({ data }) => data.includes('"Hello"')) + 1
}

function placeOf(events: readonly FakeEvent[]): number {
  return bodyOf(events).indexOf(' there')
}

export const DIALECT_ROWS: readonly DialectRow[] = [chat, responses, messages]

/** A front whose two providers speak the dialect of the row, and answer. */
export async function openDialect(
  t: Teardown,
  { name, path, answers }: DialectRow,
  options: ChatProviderOptions = {},
): Promise<ChatProviderFront> {
  const front = await openChatProvider(t, { path, providers: { speaks: [name] }, ...options })
  for (const provider of [front.first, front.second]) provider.usually(answers())
  return front
}

/** The text of a stream until its connection broke. Throws where the answer ended as if it were whole. */
export async function readBroken(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let text = ''
  for (;;) {
    const next = await reader?.read().catch(() => null)
    if (next === null) return text
    if (next === undefined || next.done) throw new Error('the answer ended as if it were whole')
    text += decoder.decode(next.value as Uint8Array, { stream: true })
  }
}
