import type { Failure } from '../schemas/failures.ts'
import type { ReportedTiers, ShownUsage, TokenUsage, WrittenPart } from './parts.ts'

/** Members at the beginning of every event, or of the answer, of one call. */
export interface TextHead {
  /** `gen_…` */
  readonly id: string
  /** Unix seconds. */
  readonly createdS: number
  /** Canonical id of the first model of the call; another one may answer. */
  readonly model: string
}

export interface PaidUsage {
  readonly usage: TokenUsage
  readonly isByok: boolean
  readonly isEstimated: boolean
  readonly reported?: ReportedTiers
}

/** Data about a call that its failure event contains. */
export interface FailureFacts {
  readonly statuses: readonly number[]
  readonly requestId: string
}

/** The comment that keeps the connection alive while a source is silent. */
export const SILENCE: Uint8Array = Buffer.from(': SLUICE PROCESSING\n\n')

/** Makes the events of one streamed answer in a dialect. */
export interface TextEvents {
  /** Bytes written while the source is silent. */
  readonly silence: Uint8Array
  /** Called once, before the first output. */
  begin(by: Author): void
  eventsOf(parts: readonly WrittenPart[]): Uint8Array
  /** Called with whole events of a provider that speaks the dialect; they are passed on unchanged. */
  passed?(events: Uint8Array): void
  /** The end of an answer when no event of the provider's stream was held back. */
  lastOf(usage: ShownUsage): Uint8Array
  /** Sends the client an event that marks the answer as incomplete. */
  failureOf(failure: Failure, facts: FailureFacts): Uint8Array
}

export interface Author {
  /** Canonical id of the model. */
  readonly model: string
  readonly provider: string
  /** Unix seconds in all events of the provider; absent: those of the call. */
  readonly createdS?: number | undefined
}

export interface WholeText {
  /** Called once, before the first part. */
  begin(by: Author): void
  add(part: WrittenPart): void
  /** The answer of a model that writes parts. */
  answer(usage: ShownUsage): object
}
