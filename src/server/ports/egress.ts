import type { Outcome } from '../../schemas/failures.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST'
  /** Path with query, below the origin. */
  readonly path: string
  /** Flat name, value list; lower-case names, without `content-length`. */
  readonly headers: readonly string[]
  /** Several pieces are sent one after another without being joined. */
  readonly body: string | Uint8Array | readonly Uint8Array[] | null
  /** `performance.now()` of the attempt's end: `upstream_slow` beyond. */
  readonly attemptEndsAt: number
  /**
   * Whose signal cancels the request while it is unsent; after it was sent only when `mayCutSent`. C24.
   * The signal is read only when the request has to wait, since making one costs more than sending does.
   */
  readonly call: { readonly signal: AbortSignal }
  readonly mayCutSent: boolean
  /** True when sending it twice does no harm: a kept-alive connection that turns out to be closed is then replaced once. */
  readonly mayRepeat: boolean
  /** Bytes of an answer of status 2xx; `upstream_too_large` beyond. Other answers are read to UPSTREAM_ERROR_BYTES_MAX. */
  readonly answerBytesMax: number
}

export interface EgressAnswer {
  readonly status: number
  /** The status is one of success: 2xx. */
  readonly isSuccess: boolean
  readonly retryAfter: string | null
  /** The whole body in one piece, decoded; of an answer other than 2xx at most UPSTREAM_ERROR_BYTES_MAX of it. */
  readonly body: Uint8Array
  /** Returns what the body holds of the front's answer budget; a second call does nothing. */
  readonly release: () => void
}

/** An outgoing HTTP origin that the operator trusts: a keep-alive pool. Design §9. */
export interface TrustedOrigin {
  /**
   * Redirects are answers like any other, never followed.
   * Failures: upstream_failed, upstream_invalid (content encoding), upstream_slow, upstream_too_large; client_gone,
   * deadline_exceeded and draining when the signal ended it before it was sent; and busy when the pool or the budget
   * for answers had no room within the attempt.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
}

/** The one gate to the outside. */
export interface Egress {
  /** @param origin scheme, host and port of one of the operator's own providers; asked again, it gives the same pool */
  trusted(origin: string): TrustedOrigin
  /**
   * Takes room of the budget for answers, for bytes that were made here; null when it has none now.
   * @returns gives the room back, once
   */
  hold(bytes: number): (() => void) | null
  /** Bytes of provider answers held now, and calls under way: both return to zero when nothing runs. */
  readonly load: { readonly heldBytes: number; readonly calls: number }
  close(): Promise<void>
}
