import type { Outcome } from '../../../schemas/failures.ts'
import type { TierMember } from '../../../schemas/models/price-conditions.ts'
import type { KeptPrice } from '../../../schemas/money/price-at.ts'
import type { TokenUsage } from '../../../dialects/parts.ts'

/** What is kept of a call to a model that writes: no prompt, no output, no key. */
export interface Generation {
  /** `gen_…` */
  readonly id: string
  /** Unix milliseconds, as in the id. */
  readonly createdMs: number
  readonly organizationId: string
  readonly workspaceId: string
  /** The provider's own id; null: it reported none that can be kept. */
  readonly upstreamId: string | null
  readonly facts: GenerationFacts
}

/** A member that came later is absent in older records. */
export interface GenerationFacts {
  readonly requestId: string
  readonly sessionId: string | null
  readonly model: string
  /** Slug; null: no provider has answered. */
  readonly provider: string | null
  readonly isStreamed: boolean
  /** The caller left before the stream was over. */
  readonly isCancelled: boolean
  /** `error`: the answer broke off; null: the caller left. */
  readonly finishReason: string | null
  readonly usage: TokenUsage
  readonly isEstimated: boolean
  /** The charged part of the cost. */
  readonly chargedNano: number
  readonly isByok: boolean
  /** Whole milliseconds from the request until the end of the answer. */
  readonly latencyMs: number
  /** Whole milliseconds of the attempt that was delivered. */
  readonly upstreamMs: number
  /** Whole milliseconds until the first output was written to the caller; null: there was none. */
  readonly firstOutputMs: number | null
  /** Whole milliseconds in which the caller did not read. */
  readonly stalledMs: number
  readonly attempts: number
  readonly dropped: readonly string[]
  readonly images: number
  readonly sounds: number
  /** As the provider reports it; null: it reports none. */
  readonly serviceTier?: string | null
  /** The prices of the call; null: no provider has answered. */
  readonly price?: KeptPrice | null
  /** What was charged at the usual price, since the catalogue has no price of it; null: nothing. */
  readonly unpricedTier?: TierMember | null
}

/** Kept by the journal next to the money of a streamed call, for the record if its front dies. */
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
  /** Queues the record, never waits and never fails: a record that has no room is lost and counted. */
  keep(generation: Generation): void
  /** Failures: generation_unknown, store_unavailable. */
  find(sought: GenerationSought): Promise<Outcome<Generation>>
}
