import type { NativeRequest } from '../../../dialects/native.ts'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { CountedPrompt, CountJob, InferenceJob } from '../../ports/inference/inference.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import type { CallMedia } from './inline/call-media.ts'
import type { ContentHole } from './inline/file-edits.ts'
import type {
  FinalEvents,
  ReportedTiers,
  TokenUsage,
  WrittenPart,
  ShownUsage,
} from '../../../dialects/parts.ts'
import type { ForeignParts } from '../../../dialects/prompt/signatures.ts'

export interface WritingAttempt {
  readonly job: InferenceJob
  /** The model of the job for which the endpoint answers. */
  readonly model: CallableModel
  readonly sink: InferenceSink
  /**
   * Called once, before the first output is passed on.
   * @param dropped members of the request that the provider did not get
   * @param seen read while the answer streams
   */
  begin(dropped: readonly string[], seen: SeenStream): void
  /**
   * Called once, when the request is ready to be sent: the endpoint's time begins. Earlier work of Sluice, such as
   * fetching the media of the caller, says nothing about the endpoint.
   * @returns `performance.now()`
   */
  ready(): number
  readonly media: CallMedia
  /** True while another model of the job can be tried. */
  mayChangeModel(): boolean
}

/** What an attempt wrote. */
export interface Written {
  /** Null for a whole answer; otherwise why the answer broke off after its first output, or that the caller disconnected. */
  readonly failure: Failure | null
  /** As the provider reported it; null: not reported. */
  readonly reportedUsage: TokenUsage | null
  /** The figures are Sluice's own count, which also covers a part of an answer. */
  readonly isExact: boolean
  /** UTF-8 bytes of text, reasoning and arguments. */
  readonly outputBytes: number
  /** An answer that the caller wants whole; null when it was passed on as it arrived. */
  readonly answer: WholeAnswer | null
  /** As in `InferenceEnd`. */
  readonly release?: (() => void) | undefined
  /** As in `InferenceEnd`. */
  readonly finalEvents: FinalEvents | null
  readonly dropped: readonly string[]
  /** The provider's own id of the answer; null: not reported. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** The provider's finish reason of the choice that ended last; null when none has ended. */
  readonly finishReason: string | null
  /** Milliseconds during which the provider was not read, because the caller did not read. */
  readonly pausedMs: number
  /** The provider was read to its end after the caller had disconnected. */
  readonly isDrained: boolean
}

/** Text output of one endpoint, in one wire protocol. Design §10. */
export interface WritingProtocol {
  /** Writes an answer. A failure means that nothing was passed on, and another endpoint may be tried. */
  write(attempt: WritingAttempt): Promise<Outcome<Written>>
  /** The tokens of a prompt, as JSON of the caller's dialect. Failure: also count_unavailable. */
  count(job: CountJob, media: CallMedia): Promise<Outcome<CountedPrompt>>
}

/** Bytes of a request, or content that is read while the request is written. */
export type RequestPiece = ProviderRequest['body'][number]

export type ProviderRequest = NativeRequest<ContentHole>

/** The facts of a call by which the caller's body is changed. */
export type NativeJob = Pick<InferenceJob, 'request' | 'passedHeaders' | 'files'> &
  Partial<Pick<InferenceJob, 'limits' | 'defaultTokensMax'>> & {
    /** Parts signed by other providers; absent when there are none. */
    readonly foreign?: ForeignParts
  }

/** State of an answer so far, read while it streams. */
export interface SeenStream {
  /** As the provider reported it so far; null: not reported. */
  readonly usage: TokenUsage | null
  /** The figures are Sluice's own count. */
  readonly isExact?: boolean
  /** UTF-8 bytes of text, reasoning and arguments that were delivered. */
  readonly outputBytes: number
  /** The provider's own id of the answer; null: not reported. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** As in `AnsweredBy`. */
  readonly createdS?: number
}

export interface InferenceSink {
  /** @returns false when the client is slow; the source then waits for `room` */
  take(parts: readonly WrittenPart[]): boolean
  /** Passes on whole events of a provider that speaks the caller's dialect. @returns as `take` */
  pass(events: Uint8Array): boolean
  /** Resolves when the client has room again, or has disconnected. */
  room(): Promise<void>
}

/** An answer in the caller's dialect that a provider returned whole. */
export interface WholeAnswer {
  /** The bytes of the answer with its usage. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
  /** Returns its bytes to the front's budget; called once, after they were written. */
  release(): void
}
