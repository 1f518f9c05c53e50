/** The forms in which callers and providers stream natively, as data for the proofs: a row for each. */
import { NativeChatStream } from '../../../src/server/upstream/inference/chat/native-chat-stream.ts'
import type { NativeStream } from '../../../src/server/upstream/inference/protocol.ts'
import type { FakeEvent } from '../../support/inference/fake-stream.ts'
import { HEAD, REDACTED } from '../../support/inference/provider-chunks.ts'
import { PROVIDER_STREAMS } from '../../support/inference/provider-streams.ts'
import type { ReferenceEvent } from '../../support/inference/sse-reference.ts'
import type { ChatClient } from './clients/client.ts'
import { openAi } from './clients/openai.ts'
import { openRouter } from './clients/openrouter.ts'
import { vercel } from './clients/vercel.ts'

/** What a caller has in hand of a stream. */
export interface Heard {
  readonly text: string
  /** Events that tell a failure. D21. */
  readonly errors: number
  /** The last event says that the stream is whole. */
  readonly isTerminated: boolean
  /** Events that tell nothing but that the stream lives. D16. */
  readonly silences: number
}

/** Places of the events that every provider of the dialect sends, in a stream of some words. */
export interface EventPlaces {
  /** The event that begins the answer, and is no output. */
  readonly begin: number
  /** The first word; the others follow it. */
  readonly firstOutput: number
  readonly finish: number
  readonly usage: number
  readonly terminator: number
}

export interface ProvedDialect {
  readonly name: string
  /** Below `/api/v1`. */
  readonly path: string
  /** Body of a streamed request. */
  request(model: string): object
  /** A provider's stream that says these words, each in an event of its own. */
  streamOf(words: readonly string[]): readonly FakeEvent[]
  /** @param words of `streamOf` */
  placesOf(words: readonly string[]): EventPlaces
  /** Streams of real providers. */
  readonly recorded: Readonly<Record<string, readonly FakeEvent[]>>
  /** Clients of other vendors. @param base address of the API, with its prefix */
  clientsOf(base: string, key: string): Promise<readonly ChatClient[]>
  /** Reads a provider's stream as the front does. */
  open(): NativeStream
  hear(text: string): Heard
  /** The caller's stream without what differs from call to call, and without comments. */
  masked(text: string): string
  /** What the provider said in these events, and whether it finished, by the words of the dialect alone. */
  judge(events: readonly ReferenceEvent[]): Judged
}

export interface Judged {
  readonly text: string
  readonly isFinished: boolean
}

const CHUNK = { id: 'chatcmpl-9', object: 'chat.completion.chunk', created: 1_795_312_800, model: 'm' }
const TOLD = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const SILENCE = ': SLUICE PROCESSING\n\n'
const DONE = '[DONE]'
/** What JSON calls white space. */
const AROUND = /^[ \t\n\r]+|[ \t\n\r]+$/g

interface ChatChoice {
  readonly index?: unknown
  readonly delta?: { readonly content?: unknown } | null
  readonly finish_reason?: unknown
}

interface ChatChunk {
  readonly choices?: readonly ChatChoice[]
  readonly error?: unknown
}

const chat: ProvedDialect = {
  name: 'chat',
  path: '/chat/completions',
  request: (model) => ({ model, stream: true, messages: [{ role: 'user', content: 'Hello there' }] }),
  streamOf(words) {
    const chunk = (delta: object, finish: string | null = null): object => ({
      ...CHUNK,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    })
    return eventsOfChat([
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...words.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      { ...CHUNK, choices: [], usage: TOLD },
      DONE,
    ])
  },
  placesOf: ({ length }) => ({
    begin: 0,
    firstOutput: 1,
    finish: length + 1,
    usage: length + 2,
    terminator: length + 3,
  }),
  recorded: Object.fromEntries(
    Object.entries(PROVIDER_STREAMS).map(([name, events]) => [name, eventsOfChat(events)]),
  ),
  clientsOf: async (base, key) => [
    openAi(base, key),
    await openRouter(base, key),
    ...(await vercel(base, key)),
  ],
  open: () => new NativeChatStream(HEAD, REDACTED),
  hear(text) {
    const events = text.split('\n\n').slice(0, -1)
    const data = events.flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []))
    const chunks = data.filter((one) => one !== DONE).map((one) => JSON.parse(one) as ChatChunk)
    return {
      text: chunks.map((chunk) => textOfChunk(chunk)).join(''),
      errors: chunks.filter(({ error }) => error !== undefined).length,
      isTerminated: data.at(-1) === DONE,
      silences: events.filter((event) => event.startsWith(':')).length,
    }
  },
  masked: (text) =>
    text
      .replaceAll(SILENCE, '')
      .replace(/"id":"gen_\w+"/g, '"id":"gen_"')
      .replace(/"created":\d+/g, '"created":0'),
  judge(events) {
    const finishes = new Map<number, boolean>()
    let text = ''
    for (const { name, data } of events) {
      const trimmed = data.replaceAll(AROUND, '')
      if (name === 'error') return { text, isFinished: false }
      if (trimmed === '') continue
      if (trimmed === DONE) break
      const chunk = objectOf(trimmed)
      if (chunk === null || (chunk.error ?? false) !== false) return { text, isFinished: false }
      const choices = Array.isArray(chunk.choices) ? chunk.choices : []
      for (const [nth, choice] of (choices as readonly (ChatChoice | null)[]).entries()) {
        if (typeof choice !== 'object' || choice === null) return { text, isFinished: false }
        const index = Number.isSafeInteger(choice.index) ? Number(choice.index) : nth
        const isEnd = typeof choice.finish_reason === 'string' && choice.finish_reason !== ''
        finishes.set(index, isEnd || finishes.get(index) === true)
      }
      text += textOfChunk(chunk)
    }
    return { text, isFinished: finishes.size > 0 && [...finishes.values()].every(Boolean) }
  },
}

/** The dialects that are served. */
export const DIALECTS: readonly ProvedDialect[] = [chat]

function eventsOfChat(events: readonly (object | string)[]): readonly FakeEvent[] {
  return events.map((event) => ({ data: typeof event === 'string' ? event : JSON.stringify(event) }))
}

function objectOf(text: string): ChatChunk | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function textOfChunk({ choices }: ChatChunk): string {
  if (!Array.isArray(choices)) return ''
  const texts = choices.map((choice: ChatChoice | null) => choice?.delta?.content)
  return texts.filter((text) => typeof text === 'string').join('')
}
