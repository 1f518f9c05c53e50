import type { Outcome, PreviousError } from '../../../schemas/failures.ts'
import type { BulkBytes } from '../../../schemas/bodies.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { EmbeddingInput, EmbeddingsBody } from '../../../schemas/embeddings/embeddings.ts'
import type { CallNotes } from '../observe.ts'
import type { CallableModel } from '../models/models.ts'
import type { CostBound } from '../money/money.ts'

/** A validated embeddings body: a large one keeps its input as bytes. */
export type EmbeddingsRequest = Omit<EmbeddingsBody, 'input'> & { readonly input: EmbeddingInput | BulkBytes }

export interface EmbeddingJob {
  readonly model: CallableModel
  readonly request: EmbeddingsRequest
  /**
   * Of the key: under a limit that counts it an unpriced endpoint is passed over while another one is left.
   * C40. Null: none.
   */
  readonly limits: LimitFlags | null
  /** Who asks: failures of one caller alone say little of an endpoint. */
  readonly caller: Caller
  /** For the audit log, where an endpoint's credential has to be released. */
  readonly requestId?: string
  /** Gateways that the call has come through. */
  readonly hops?: number
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
  /**
   * Whose signal says that the caller left; read only when something has to wait. C24. Its notes are told of
   * attempts that failed.
   */
  readonly call: {
    readonly signal: AbortSignal
    /** False: the caller's organization has to read before more is made for it. */
    readonly hasRoomToRead?: boolean
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /** Told true when a provider has the call, and false when it is to be sent to another one. */
    sent?(isSent: boolean): void
  }
}

export interface EmbeddingsResult {
  /** UTF-8 JSON of the `data` array, in the encoding that was asked; slices that follow each other. */
  readonly data: readonly Uint8Array[]
  readonly promptTokens: number
  readonly totalTokens: number
  /** True when the provider's figures were missing or impossible and ours stand in. Design §6.4. */
  readonly isEstimated: boolean
  readonly provider: string
  readonly promptNanoPerMillion: number
  readonly requestNano: number
  /** It was a workspace's own endpoint. */
  readonly isByok: boolean
  /** The endpoint has no price. C14. */
  readonly isUnpriced: boolean
  readonly attempts: number
  readonly previousErrors: readonly PreviousError[]
  /** Milliseconds of the answering attempt. */
  readonly upstreamMs: number
  /** Returns the bytes that this answer holds of the front's budget; call once when `data` was written. */
  readonly release: () => void
}

/** A call whose endpoints are chosen, and nothing of it sent. */
export interface EmbeddingPlan {
  readonly bound: CostBound
  /** Calls them in turn, answers with the first that succeeds; once. */
  run(): Promise<Outcome<EmbeddingsResult>>
}

/** Embeds by the endpoints that preferences and health leave. Design §10. */
export interface Embedder {
  /** Failures: endpoint_excluded, endpoint_unconfigured, input_unsupported. */
  plan(job: EmbeddingJob): Outcome<EmbeddingPlan>
}
