import type { Outcome } from '../../../schemas/failures.ts'
import type { PreviousError } from '../../../schemas/failure-metadata.ts'
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
   * Flags of the key's limits: under a limit that counts it, an unpriced endpoint is skipped while another is
   * left. C40. Null: no limits.
   */
  readonly limits: LimitFlags | null
  /** The caller: failures of one caller alone say little about an endpoint. */
  readonly caller: Caller
  /** Id of the request for the audit log, where an endpoint's credential has to be released. */
  readonly requestId?: string
  /** Number of gateways that the call has passed. */
  readonly hops?: number
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
  /**
   * The call: its signal ends when the caller left, and is read only when the call has to wait. C24. Its
   * notes receive attempts that failed.
   */
  readonly call: {
    readonly signal: AbortSignal
    /** False: the caller's organization has to read its replies before more is made for it. */
    readonly hasRoomToRead?: boolean
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /**
     * Called with true when a provider has the call, and with false when the call is to be sent to another
     * provider.
     */
    sent?(isSent: boolean): void
  }
}

export interface EmbeddingsResult {
  /**
   * UTF-8 JSON of the `data` array, in the requested encoding; slices that follow each other. Lent perhaps:
   * see `owned` of schemas/values/lent-bytes.ts.
   */
  readonly data: readonly Uint8Array[]
  readonly promptTokens: number
  readonly totalTokens: number
  /**
   * True when the provider's figures were missing or impossible and Sluice's estimate replaces them. Design
   * §6.4.
   */
  readonly isEstimated: boolean
  readonly provider: string
  /** Members of the request that the provider did not get. C25. */
  readonly dropped: readonly string[]
  readonly promptNanoPerMillion: number
  /** Of the call besides its tokens: the request, and its pictures. */
  readonly requestNano: number
  /** The endpoint is a workspace's own. */
  readonly isByok: boolean
  /** The endpoint has no price. C14. */
  readonly isUnpriced: boolean
  readonly attempts: number
  readonly previousErrors: readonly PreviousError[]
  /** Milliseconds of the attempt that succeeded. */
  readonly upstreamMs: number
  /** Returns the bytes of this result to the front's budget; called once when `data` was written. */
  readonly release: () => void
}

/** A call whose endpoints are chosen, before anything is sent. */
export interface EmbeddingPlan {
  readonly bound: CostBound
  /** Tokens that the input is expected to have. D29. */
  estimatedTokens(): number
  /** Calls the endpoints one after another and returns the first success; called once. */
  run(): Promise<Outcome<EmbeddingsResult>>
}

/** Embeds by the endpoints that preferences and health leave. Design §10. */
export interface Embedder {
  /** Failures: endpoint_excluded, endpoint_unconfigured, input_unsupported. */
  plan(job: EmbeddingJob): Outcome<EmbeddingPlan>
}
