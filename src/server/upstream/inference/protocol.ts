import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ForeignParts } from '../../../schemas/inference/forms/foreign-signatures.ts'
import type { NamedOrigin } from '../../../schemas/inference/forms/prompt.ts'
import type { ThinksIn } from '../../../schemas/models/text-models.ts'
import type {
  CountedPrompt,
  CountJob,
  FinalEvents,
  InferenceJob,
  InferenceSink,
  ReportedTiers,
  ShownUsage,
  TokenUsage,
  WholeAnswer,
  WrittenPart,
} from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { NoAnswer } from '../../ports/short-jobs.ts'
import type { RedactedTexts } from '../reason.ts'
import type { CallMedia } from './inline/call-media.ts'
import type { ContentHole } from './inline/file-edits.ts'
import type { SeenStream } from './open-streams.ts'

/** One try of one endpoint. */
export interface WritingAttempt {
  readonly job: InferenceJob
  /** The model of the job that the endpoint answers for. */
  readonly model: CallableModel
  readonly sink: InferenceSink
  /**
   * Called once, before the first output is passed on.
   * @param dropped members of the request that the provider did not get. D6
   * @param seen is read while the answer streams. D28
   */
  begin(dropped: readonly string[], seen: SeenStream): void
  /**
   * Called once, when the request is ready to be sent: the endpoint's time begins. What Sluice does before, such
   * as fetching the media of the caller, says nothing about the endpoint.
   * @returns `performance.now()`
   */
  ready(): number
  readonly media: CallMedia
  /** True while another model of the job can be tried. D11. */
  mayChangeModel(): boolean
}

/** What an attempt wrote. */
export interface Written {
  /** Null for a whole answer; otherwise why it broke off behind its first output, or was left. */
  readonly failure: Failure | null
  /** As the provider told it; null: it told none. D24. */
  readonly told: TokenUsage | null
  /** The figures are Sluice's own count, also of a part of an answer. */
  readonly isExact: boolean
  /** UTF-8 bytes of text, reasoning and arguments. D26. */
  readonly outputBytes: number
  /** An answer that the caller wants whole; null: it was passed on as it came. */
  readonly answer: WholeAnswer | null
  /** As in `InferenceEnd`. */
  readonly release?: (() => void) | undefined
  /** As in `InferenceEnd`. */
  readonly finalEvents: FinalEvents | null
  readonly dropped: readonly string[]
  /** The provider's own id of the answer; null: it told none. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** Of the choice that ended last, in the provider's words; null: none has ended. */
  readonly finishReason: string | null
  /** Milliseconds in which the provider was not read, since the caller did not read. */
  readonly pausedMs: number
  /** The provider was read on when the caller had left. D27. */
  readonly isDrained: boolean
}

/** Texts by one endpoint, in one wire protocol. Design §10. */
export interface WritingProtocol {
  /** A failure: nothing was passed on, and another endpoint may be tried. */
  write(attempt: WritingAttempt): Promise<Outcome<Written>>
  /** The tokens of a prompt, as JSON of the caller's dialect. Failure: also count_unavailable. D5. */
  count(job: CountJob, media: CallMedia): Promise<Outcome<CountedPrompt>>
}

/** What the bytes of one read gave. */
export interface NativeRead {
  /**
   * Whole events in the caller's form, to be sent in one write; null: no event was completed. Valid until the
   * next read of any stream.
   */
  readonly events: Uint8Array | null
  /**
   * Why nothing more is read: the provider's own error event, upstream_invalid, upstream_too_large. What came
   * before it is in `events`.
   */
  readonly failure: Failure | null
}

/** What is known of a provider's stream while, and after, it is read. */
export interface StreamFigures {
  /** The provider's body has ended. Null: the stream was whole. */
  end(): Failure | null
  /** Bytes of memory that an event takes whose end has not come. */
  readonly heldBytes: number
  /** An output was among the events so far. */
  readonly hasOutput: boolean
  /** Nothing behind the last event counts. */
  readonly isDone: boolean
  /** The output is over, and the usage alone is still to come. D27. */
  readonly awaitsUsage: boolean
  /** As the provider told it last; null: missing, no counts, or no output where there was some. D24. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. D26. */
  readonly outputBytes: number
  /** Of the part of the answer that ended last, in the provider's words; null: none has ended. */
  readonly finishReason: string | null
  /** The provider's own id; null before it came. */
  readonly upstreamId: string | null
  /** By the last event that reports each. F6. */
  readonly reported: ReportedTiers
  /** As in `AnswerFigures`. */
  readonly blocked?: string | undefined
  /** Where a chat had its reasoning; null: it had none. Absent: the protocol has one place. */
  readonly thinksIn?: ThinksIn | null
}

/** The stream of a provider that speaks the caller's dialect. D13, D22. */
export interface NativeStream extends StreamFigures {
  read(bytes: Uint8Array): NativeRead
  /** Events that a whole stream keeps back; null: none. */
  readonly finalEvents: FinalEvents | null
  /** As in `AnsweredBy`. */
  readonly createdS?: number
}

/** What the bytes of one read gave of a stream that is translated. */
export interface PartRead {
  /** In the order of the answer; empty: no part was completed. */
  readonly parts: readonly WrittenPart[]
  /** As in `NativeRead`. */
  readonly failure: Failure | null
  /**
   * Reads on, with an event that a thread reads: to be called once, and before the next read. Absent: all was
   * read.
   */
  readonly rest?: () => Promise<PartRead>
}

/** The stream of a provider in its own protocol, for callers of other dialects. D5, D13, D22. */
export interface PartStream extends StreamFigures {
  read(bytes: Uint8Array): PartRead
  /** Parts that only the end of the body completes; absent: there are none. */
  readonly finalParts?: readonly WrittenPart[]
}

/** A whole answer that was read, or why it cannot be. */
export type WholeRead<T> = { readonly ok: true; readonly value: T } | NoAnswer

/** A whole answer in the internal form. D5. */
export interface WholeParts extends AnswerFigures {
  readonly parts: readonly WrittenPart[]
}

/** Figures of a whole answer. */
export interface AnswerFigures {
  /** Null: missing, no counts, or no output where there was some. D24. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of text, reasoning and arguments of tools. */
  readonly outputBytes: number
  /** In the provider's words, of the last choice; null: it told none. */
  readonly finishReason: string | null
  /** The provider's own id; null without one. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** The provider's word for a prompt that its filter blocked before any output; absent: it blocked none. D11. */
  readonly blocked?: string | undefined
  /** As in `StreamFigures`. */
  readonly thinksIn?: ThinksIn | null
}

/** An answer, or an event, around the place of its usage. */
export interface AnswerPieces {
  readonly before: readonly Uint8Array[]
  /**
   * Members of the provider's own usage, without its braces and without those that Sluice adds; null: the
   * place gets the whole object.
   */
  readonly told: readonly Uint8Array[] | null
  readonly after: readonly Uint8Array[]
}

export interface ReadAnswer extends AnswerFigures {
  readonly pieces: AnswerPieces
}

/** A whole answer in the caller's dialect, as a provider that speaks it gave it, or translated. D14. */
export interface NativeAnswer extends AnswerFigures {
  /** The answer in pieces. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
}

/** What every event, or the answer, of one call is made of. */
export interface NativeHead {
  /** `gen_…` */
  readonly id: string
  /** Canonical id of the model. */
  readonly model: string
  readonly provider: string
  /** Unix seconds, for where the provider gives none. */
  readonly createdS: number
}

/** Bytes of a request, or a content that is read while the request is written. */
export type RequestPiece = Uint8Array | ContentHole

/** What goes to the provider. */
export interface NativeRequest {
  readonly body: readonly RequestPiece[]
  /** Members of the request that the provider does not get. D6. */
  readonly dropped: readonly string[]
  /** Flat list of names and values, beside those of every call. */
  readonly headers?: readonly string[]
  /** Functions of a translated request whose calls have other words in the caller's dialect; absent: none. */
  readonly origins?: readonly NamedOrigin[]
}

/** What the caller's body is changed by. */
export type NativeJob = Pick<InferenceJob, 'request' | 'passedHeaders' | 'files'> &
  Partial<Pick<InferenceJob, 'limits' | 'defaultTokensMax'>> & {
    /** What other providers have signed; absent: nothing. */
    readonly foreign?: ForeignParts
  }

/** One form of calls, spoken by caller and provider alike: what differs between the forms. D5. */
export interface NativeDialect {
  /** Below the provider's base address. */
  readonly path: string
  /** Of the call that counts the tokens of a prompt; absent: the form has none. */
  readonly countPath?: string
  /** The caller's body with the changes of D4. */
  request(job: NativeJob, endpoint: Endpoint, text: EndpointText): NativeRequest
  stream(head: NativeHead, redacted: RedactedTexts): NativeStream
  /**
   * Reads a whole answer, of which the pieces are parts. Null: it is none in this form. Bytes: JSON of the error
   * that a failed answer reports. D14.
   */
  answer(body: Buffer, head: NativeHead): ReadAnswer | Uint8Array | null
}
