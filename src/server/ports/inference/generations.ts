import type { Outcome } from '../../../schemas/failures.ts'
import type { TierMember } from '../../../schemas/models/price-conditions.ts'
import type { KeptPrice } from '../../../schemas/money/price-at.ts'
import type { TokenUsage } from '../../../dialects/parts.ts'

/** The record of a call to a text model: it contains no prompt, no output and no key. */
export interface Generation {
  /** `gen_…` */
  readonly id: string
  /** Unix milliseconds, as contained in the id. */
  readonly createdMs: number
  readonly organizationId: string
  readonly workspaceId: string
  /** The provider's own id; null: it reported none that can be stored. */
  readonly upstreamId: string | null
  readonly facts: GenerationFacts
}

/** Members that were added later are absent in older records. */
export interface GenerationFacts {
  readonly requestId: string
  readonly sessionId: string | null
  readonly model: string
  /** Slug; null: no provider has answered. */
  readonly provider: string | null
  readonly isStreamed: boolean
  /** The caller left before the stream ended. */
  readonly isCancelled: boolean
  /** `error`: the answer was interrupted; null: the caller left. */
  readonly finishReason: string | null
  readonly usage: TokenUsage
  readonly isEstimated: boolean
  /** The charged part of the cost. */
  readonly chargedNano: number
  readonly isByok: boolean
  /** Whole milliseconds from the request until the end of the answer. */
  readonly latencyMs: number
  /** Whole milliseconds of the attempt whose answer was delivered. */
  readonly upstreamMs: number
  /** Whole milliseconds until the first output was written to the caller; null: there was none. */
  readonly firstOutputMs: number | null
  /** Whole milliseconds during which the caller did not read. */
  readonly stalledMs: number
  readonly attempts: number
  readonly dropped: readonly string[]
  readonly images: number
  readonly sounds: number
  /** As the provider reported it; null: not reported. */
  readonly serviceTier?: string | null
  /** The prices of the call; null: no provider has answered. */
  readonly price?: KeptPrice | null
  /** The tier, speed or region that was charged at the usual price because the catalogue has no price for it; null: none. */
  readonly unpricedTier?: TierMember | null
}

/** Kept in the journal together with the money of a streamed call, to create its record if its front dies. */
export interface StreamNote extends Pick<
  GenerationFacts,
  | 'sessionId'
  | 'firstOutputMs'
  | 'stalledMs'
  | 'attempts'
  | 'dropped'
  | 'images'
  | 'sounds'
  | 'serviceTier'
  | 'price'
  | 'unpricedTier'
> {
  readonly id: string
  readonly upstreamId: string | null
}

export interface GenerationSought {
  readonly organizationId: string
  /** Null: any workspace of the organization. */
  readonly workspaceId: string | null
  /** The call's own id, or the provider's. */
  readonly id: string
}

export interface Generations {
  /** Queues the record; never waits and never fails. When the queue is full, the record is lost and counted. */
  keep(generation: Generation): void
  /** Failures: generation_unknown, store_unavailable. */
  find(sought: GenerationSought): Promise<Outcome<Generation>>
}
