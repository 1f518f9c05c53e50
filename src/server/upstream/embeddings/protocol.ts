import type { Caller } from '../../../schemas/values/callers.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import type { InputShape } from './input-shape.ts'

/** One try of one endpoint. */
export interface EmbeddingAttempt {
  readonly request: EmbeddingsRequest
  readonly shape: InputShape
  /** `performance.now()` milliseconds. */
  readonly endsAt: number
  /** End of the whole call, on the same clock. */
  readonly deadlineAt: number
  readonly caller: Caller
  readonly requestId?: string | null
  /** Gateways that the call has passed before this one. */
  readonly hops?: number
  readonly call: {
    readonly signal: AbortSignal
    readonly hasRoomToRead?: boolean
    sent?(isSent: boolean): void
  }
}

/** The response of an endpoint in Sluice's form; the token figures are the provider's and not yet checked. */
export interface Reading {
  /** UTF-8 JSON of the `data` array in slices that follow each other. */
  readonly data: readonly Uint8Array[]
  readonly promptTokens: number | null
  readonly totalTokens: number | null
  readonly release: () => void
}

export type UnsentMember = 'input_type' | 'user'

/** Embeddings in one wire protocol, bound to one endpoint. Design §10. */
export interface EmbeddingProtocol {
  /** False for input shapes that the protocol does not support: Sluice makes no call. */
  takes(shape: InputShape): boolean
  /** Members of the request that the endpoint does not get, for `x-sluice-dropped`. */
  unsent(request: EmbeddingsRequest): readonly UnsentMember[]
  embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>>
}
