import type { Outcome } from '../../../schemas/failures.ts'
import type { BulkBytes } from '../../../schemas/bodies.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { EmbeddingInput, EmbeddingsBody } from '../../../schemas/embeddings/embeddings.ts'
import type { ModelReply, PayingCall, PaymentPorts } from '../model-calls.ts'
import type { CallableModel } from '../models/models.ts'

/** A large body keeps its input as bytes. */
export type EmbeddingsRequest = Omit<EmbeddingsBody, 'input'> & { readonly input: EmbeddingInput | BulkBytes }

export interface EmbeddingJob {
  readonly operation: string
  /** Id of the answer, `emb_…`. */
  readonly id: string
  readonly model: CallableModel
  readonly request: EmbeddingsRequest
  /** Under a limit that counts it, an unpriced endpoint is skipped while another is left. Null: the key has no limits. */
  readonly limits: LimitFlags | null
  /** The caller: failures of one caller alone say little about an endpoint. */
  readonly caller: Caller
  /** For the audit log, where an endpoint's credential is released. */
  readonly requestId: string
  /** Number of gateways that the call has passed. */
  readonly hops: number
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
  readonly call: EmbeddingCaller
}

/** Its signal is read only when the call has to wait. */
export interface EmbeddingCaller extends PayingCall {
  /** False: the caller's organization has to read its replies before more is made for it. */
  readonly hasRoomToRead?: boolean
  /** True: a provider has the call; false: the call is to be sent to another provider. */
  sent?(isSent: boolean): void
}

export interface Embedder {
  /**
   * Chooses the endpoints, reserves the most that the call may cost, calls them one after another until one
   * has answered, and pays. No promise for a call that no endpoint can serve. Failures: endpoint_excluded,
   * endpoint_unconfigured, hops_exceeded, input_unsupported, those of a payment, and of providers.
   */
  answer(job: EmbeddingJob, ports: PaymentPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>>
}
