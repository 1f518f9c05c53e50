/** A form in which callers and providers stream natively, as data for the proofs. */
import type { NativeStream } from '../../../../src/server/upstream/inference/protocol.ts'
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import type { ReferenceEvent } from '../../../support/inference/sse-reference.ts'
import type { ChatClient } from '../clients/client.ts'

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
  /** The first event that the caller gets with the end; absent: the one behind `finish`. */
  readonly held?: number
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
  /** A body that ends as HTTP says, behind the finish, is the end of the answer. D22. */
  readonly endsInOrder: boolean
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
