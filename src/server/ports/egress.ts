import type { Outcome } from '../../schemas/failures.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST'
  /** Path with query, below the origin. */
  readonly path: string
  /** Flat name, value list; lower-case names. */
  readonly headers: readonly string[]
  readonly body: Uint8Array | readonly Uint8Array[] | null
  /** `performance.now()` of the attempt's end: `upstream_slow` beyond. */
  readonly attemptEndsAt: number
  /** Aborts the request while it is unsent; after it was sent only when `mayCutSent`. C24. */
  readonly signal: AbortSignal
  readonly mayCutSent: boolean
  /** Bytes of an answer of status 2xx; `upstream_too_large` beyond. Other answers are read to UPSTREAM_ERROR_BYTES_MAX. */
  readonly answerBytesMax: number
  /** Asked before each block of a 2xx answer is kept; `busy` when the budget has no room within the attempt. */
  readonly reserve?: (bytes: number) => boolean
}

export interface EgressAnswer {
  readonly status: number
  readonly contentType: string
  readonly contentEncoding: string
  readonly retryAfter: string | null
  readonly requestId: string | null
  /** The whole body in one piece. */
  readonly body: Uint8Array
}

/** An outgoing HTTP origin that the operator trusts: a keep-alive pool. Design §9. */
export interface TrustedOrigin {
  /** Failures: upstream_failed, upstream_slow, upstream_too_large, deadline_exceeded, client_gone, busy. */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
}

/** The one gate to the outside. */
export interface Egress {
  /** @param origin scheme, host and port of one of the operator's own providers */
  trusted(origin: string): TrustedOrigin
  close(): Promise<void>
}
