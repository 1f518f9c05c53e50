/** The forms in which callers and providers stream, as data for the proofs. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import type { ReferenceEvent } from '../../../support/inference/sse-reference.ts'
import type { ChatClient } from '../clients/client.ts'
import type { NativeStream } from '../../../../src/dialects/parts.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** What a caller has in hand of a stream. */
export interface Received {
  readonly text: string
  /** Events that report a failure. D21. */
  readonly errors: number
  /** The last event says that the stream is whole. */
  readonly isTerminated: boolean
  /** Events that only show that the stream lives. D16. */
  readonly silences: number
}

/** Places of the events that every provider of the dialect sends, in a stream of some words. */
export interface EventPlaces {
  /** The event that begins the answer, which is not an output. */
  readonly begin: number
  /** The first word; the others follow it. */
  readonly firstOutput: number
  readonly finish: number
  readonly usage: number
  /** Null: the end of the body is the end of the stream. */
  readonly terminator: number | null
  /** The first event that the caller gets with the end; absent: the one after `finish`. */
  readonly held?: number
}

/** A form in which callers call, and read. */
export interface CallerSide {
  readonly dialect: Dialect
  /** Below `/api/v1`. */
  readonly path: string
  /** Body of a streamed request. */
  request(model: string, prompt?: string): object
  /** Clients of other vendors. @param base address of the API, with its prefix */
  clientsOf(base: string, key: string): Promise<readonly ChatClient[]>
  hear(text: string): Received
  /** The caller's stream without what differs from call to call, and without comments. */
  masked(text: string): string
}

/** A form in which providers answer. */
export interface ProviderSide {
  readonly protocol: TextProtocol
  /** Members that providers of the form have in the catalogue. */
  readonly facts: Readonly<Record<string, unknown>>
  /** A provider's stream that says these words, each in an event of its own. */
  streamOf(words: readonly string[]): readonly FakeEvent[]
  /** @param words of `streamOf` */
  placesOf(words: readonly string[]): EventPlaces
  /** Streams of real providers. */
  readonly recorded: Readonly<Record<string, readonly FakeEvent[]>>
  /** A body that ends as HTTP says, after the finish, is the end of the answer. D22. */
  readonly endsInOrder: boolean
  /** What the provider said in these events, and whether it finished, by the words of the form alone. */
  judge(events: readonly ReferenceEvent[]): Judged
  /** The same, of what a translation reads; absent: it reads all of it. */
  readonly judgeRead?: (events: readonly ReferenceEvent[]) => Judged
}

/** A caller's form, and the form of the provider that answers. */
export interface ProvedDialect extends CallerSide, ProviderSide {
  readonly name: string
  /** Events of unknown kinds are not passed on. */
  readonly skipsUnknown: boolean
  /** Reads a provider's stream, and gives the caller's, as the front does. */
  open(): NativeStream
}

export interface Judged {
  readonly text: string
  /** Where the provider sends each text twice: its whole text; absent: it does not. */
  readonly whole?: string
  readonly isFinished: boolean
}

export function isStated({ text, whole }: Judged, received: string): boolean {
  return received === text || received === whole
}

/** What the user says where a proof needs no other words. */
export const PROMPT = 'Hello there'
/** What comes while a model is silent. D16. */
export const SILENCE = ': SLUICE PROCESSING\n\n'
/** What JSON calls white space. */
export const AROUND = /^[ \t\n\r]+|[ \t\n\r]+$/g

/** The object that a text of JSON is; null: none. */
export function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
