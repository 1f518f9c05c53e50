import type { Outcome } from '../../../schemas/failures.ts'
import type { BulkBytes } from '../../../schemas/bodies.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { EmbeddingInput, EmbeddingsBody } from '../../../schemas/embeddings/embeddings.ts'
import type { ModelReply, PayingCall, PaymentPorts } from '../model-calls.ts'
import type { CallableModel } from '../models/models.ts'

/** The input of a large body stays in bytes. */
export type EmbeddingsRequest = Omit<EmbeddingsBody, 'input'> & { readonly input: EmbeddingInput | BulkBytes }

export interface EmbeddingJob {
  readonly operation: string
  /** Id of the answer, `emb_…`. */
  readonly id: string
  readonly model: CallableModel
  readonly request: EmbeddingsRequest
  /** An unpriced endpoint whose calls count against a limit is skipped while there is another endpoint. Null: the key has no limits. */
  readonly limits: LimitFlags | null
  /** The caller is recorded with failures: those of a single caller are weak evidence about an endpoint. */
  readonly caller: Caller
  /** For the audit log, when an endpoint's credential is released. */
  readonly requestId: string
  /** Number of gateways that the call has already passed through. */
  readonly hops: number
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
  readonly call: EmbeddingCaller
}

/** The signal is read only when the call has to wait. */
export interface EmbeddingCaller extends PayingCall {
  /** False: the caller's organization must read its replies before more are produced for it. */
  readonly hasRoomToRead?: boolean
  /** True: the call was sent to a provider; false: it will be sent to another one. */
  sent?(isSent: boolean): void
}

export interface Embedder {
  /**
   * Chooses the endpoints, reserves the maximum cost of the call, calls the endpoints one after another until
   * one has answered, and settles the charge. No promise for a call that no endpoint can serve. Failures:
   * endpoint_excluded, endpoint_unconfigured, hops_exceeded, input_unsupported, those of a payment, and of
   * providers.
   */
  answer(job: EmbeddingJob, ports: PaymentPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>>
}
