import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { InferenceJob, InferenceSink, TokenUsage, WholeAnswer } from '../../ports/inference/inference.ts'
import type { CallableModel } from '../../ports/models/models.ts'

/** One try of one endpoint. */
export interface WritingAttempt {
  readonly job: InferenceJob
  /** The model of the job that the endpoint answers for. */
  readonly model: CallableModel
  readonly sink: InferenceSink
  /**
   * Called once, before the first output is passed on.
   * @param dropped members of the request that the provider did not get. D6
   */
  begin(dropped: readonly string[]): void
  /** `performance.now()` of the attempt's start. */
  readonly startedAt: number
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
  readonly dropped: readonly string[]
  /** The provider's own id of the answer; null: it told none. */
  readonly upstreamId: string | null
  /** Of the choice that ended last, in the provider's words; null: none has ended. */
  readonly finishReason: string | null
}

/** Texts by one endpoint, in one wire protocol. Design §10. */
export interface WritingProtocol {
  /** A failure: nothing was passed on, and another endpoint may be tried. */
  write(attempt: WritingAttempt): Promise<Outcome<Written>>
}

/** What the bytes of one read gave. */
export interface NativeRead {
  /** Whole events in the caller's form, to be sent in one write; null: no event was completed. */
  readonly events: Uint8Array | null
  /**
   * Why nothing more is read: the provider's own error event, upstream_invalid, upstream_too_large. What came
   * before it is in `events`.
   */
  readonly failure: Failure | null
}

/** The stream of a provider that speaks the caller's dialect. D13, D22. */
export interface NativeStream {
  read(bytes: Uint8Array): NativeRead
  /** The provider's body has ended. Null: the stream was whole. */
  end(): Failure | null
  /** Bytes of memory that an event takes whose end has not come. */
  readonly heldBytes: number
  /** An output was among the events so far. */
  readonly hasOutput: boolean
  /** Nothing behind the last event counts. */
  readonly isDone: boolean
  readonly usage: TokenUsage | null
  readonly outputBytes: number
}
