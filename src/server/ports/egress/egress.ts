import type { Readable } from 'node:stream'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path with query, below the origin. */
  readonly path: string
  /** Flat name, value list; lower-case names, without `content-length`. */
  readonly headers: readonly string[]
  /**
   * Several pieces are sent one after another without being joined. A stream is read as fast as the other
   * side takes it, and goes out in chunks unless it had ended before; it stays the caller's to destroy, and
   * cannot be repeated.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /**
   * `performance.now()` of the attempt's end: `upstream_slow` beyond. Asked again and again: a stream may put
   * it off.
   */
  readonly attemptEndsAt: number
  /**
   * Whose signal cancels the request while it is unsent; after it was sent only when `mayCutSent`. C24.
   * The signal is read only when the request has to wait, since making one costs more than sending does.
   * `sent` is called when it has a connection.
   */
  readonly call: { readonly signal: AbortSignal; sent?(isSent: boolean): void }
  readonly mayCutSent: boolean
  /**
   * True when sending it twice does no harm: a kept-alive connection that turns out to be closed is then
   * replaced once.
   */
  readonly mayRepeat: boolean
  /**
   * Asked when the request has a connection, in the tick that hands it to the socket and again before it is
   * repeated. False: nothing of it is sent, and the call fails with client_gone. One that never asked has
   * sent nothing.
   */
  readonly mayWrite?: () => boolean
  /**
   * Bytes of an answer of status 2xx; `upstream_too_large` beyond. Other answers are read to
   * UPSTREAM_ERROR_BYTES_MAX.
   */
  readonly answerBytesMax: number
  /**
   * Whose share of the budget for answers it takes; absent: that of nobody, as for what the operator asks.
   */
  readonly caller?: Caller
}

export interface EgressAnswer {
  readonly status: number
  /** The status is one of success: 2xx. */
  readonly isSuccess: boolean
  readonly retryAfter: string | null
  /**
   * The whole body in one piece, decoded; of an answer other than 2xx at most UPSTREAM_ERROR_BYTES_MAX of it.
   */
  readonly body: Uint8Array
  /** Returns what the body holds of the front's answer budget; a second call does nothing. */
  readonly release: () => void
}

/** A GET whose answer is read piece by piece. */
export interface EgressStreamRequest {
  /** Path with query, below the origin. */
  readonly path: string
  /** As those of `EgressRequest`. */
  readonly headers: readonly string[]
  /** `performance.now()` until which the answer has to begin: `upstream_slow` beyond. */
  readonly beginsBy: number
  /** Milliseconds that a reader waits for a piece: `upstream_slow` beyond. */
  readonly stallMs: number
  /** Ends the request until its answer has begun; from then on the reader does. */
  readonly signal: AbortSignal
}

export interface EgressStream {
  readonly status: number
  readonly isSuccess: boolean
  /** @param name lower case; @returns its first value, or null */
  header(name: string): string | null
  /**
   * The body as it is sent, undecoded; at most UPSTREAM_STREAM_BYTES_MAX of it and one read of the socket
   * wait here. The caller's to close. Failures: upstream_failed (it broke off), upstream_slow.
   */
  readonly body: ByteReader
}

/** An outgoing HTTP origin that the operator trusts: a keep-alive pool. Design §9. */
export interface TrustedOrigin {
  /**
   * Redirects are answers like any other, never followed.
   * Failures: upstream_failed, upstream_invalid (content encoding), upstream_slow, upstream_too_large;
   * client_gone, deadline_exceeded and draining when the signal ended it before it was sent; and busy when
   * the pool or the budget for answers had no room within the attempt.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the answer has begun, whatever its status.
   * Failures: upstream_failed, upstream_slow, client_gone, deadline_exceeded, draining; busy when
   * UPSTREAM_STREAMS_MAX are open.
   */
  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>>
}

/** A destination that a caller chose. */
export interface Destination {
  /**
   * A name in lower case without a trailing dot, an IPv4 address, or an IPv6 address in brackets as RFC 5952
   * writes it.
   */
  readonly host: string
  /** Null = 443. */
  readonly port: number | null
  /** Callbacks never speak plain HTTP, whatever the operator's allow-list says. C17. */
  readonly purpose: 'caller' | 'callback'
  /**
   * Whose call it is: it shares connections with no other workspace, and has no more than
   * VETTED_WORKSPACE_CALLS_MAX calls at once. Absent: nobody's.
   */
  readonly workspaceId?: string
}

/** Which rule refused a destination: `fields.rule` of `destination_refused`. */
export type DestinationRule = 'host' | 'port' | 'address'

/** Any request to a vetted destination, streamed both ways. */
export interface EgressExchangeRequest {
  /** Any but CONNECT. */
  readonly method: string
  /** Path with query, as it goes out. */
  readonly path: string
  /**
   * Flat name, value list. `host`, `content-length`, `expect` and hop-by-hop fields are the gate's, and left
   * out.
   */
  readonly headers: readonly string[]
  /**
   * A stream is read as fast as the other side takes it. The gate destroys it when it wants no more of it: at
   * its end, when the exchange fails, and when the whole answer has come before it, which ends the connection
   * too.
   */
  readonly body: Uint8Array | Readable | null
  /** Bytes of a stream where they are known: it is then not sent in chunks. */
  readonly bodyBytes: number | null
  /**
   * `performance.now()` until which the answer has to begin, asked again whenever it has come: a body that
   * still flows puts it off.
   */
  readonly beginsBy: () => number
  /** Milliseconds that a reader waits for a piece. */
  readonly stallMs: number
  readonly signal: AbortSignal
}

export interface EgressExchange extends EgressStream {
  /** Flat name, value list as it came, names in lower case; hop-by-hop fields included. */
  readonly headers: readonly string[]
}

/**
 * A destination whose every connection is checked when it is made. May be kept: it holds no connection.
 * Design §9.
 */
export interface VettedOrigin {
  /**
   * As `TrustedOrigin.call`, asking for identity encoding whatever `headers` say. Failures: also
   * destination_refused (an address of its name is not public); the `detail` of upstream_failed tells a name
   * that does not resolve and a certificate that was refused from the rest.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the answer has begun, whatever its status; informational ones and trailers are dropped.
   * Failures: as `open` and `call`; header_invalid (what cannot be written into a request); client_gone when
   * the body's stream failed or ended before `bodyBytes`.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
  /**
   * Looks at the addresses of its name now, without connecting. Failures: destination_refused;
   * upstream_failed when it does not resolve at this moment; busy. What it finds binds nobody: connections
   * are checked again. C17.
   */
  check(): Promise<Outcome<null>>
}

/** Room of the budget for answers. */
export interface AnswerRoom {
  readonly bytes: number
  /** Takes more; false when there is none now, and it has what it had. */
  grow(bytes: number): boolean
  /** Gives all of it back, once. */
  give(): void
}

/** The one gate to the outside. */
export interface Egress {
  /**
   * @param origin scheme, host and port of one of the operator's own providers; asked again, it gives the
   * same pool
   */
  trusted(origin: string): TrustedOrigin
  /**
   * The way to a destination that a caller chose: HTTPS and a public address, unless the operator's
   * allow-list says otherwise. Asked again, its connections are the same. Failure: destination_refused (host
   * or port are not allowed).
   */
  vetted(destination: Destination): Outcome<VettedOrigin>
  /**
   * Takes room of the budget for answers, for bytes that are made here; null when it has none now, or the
   * caller's share has none.
   */
  hold(bytes: number, caller: Caller): AnswerRoom | null
  /** Bytes of provider answers held now, and calls under way: both return to zero when nothing runs. */
  readonly load: { readonly heldBytes: number; readonly calls: number }
  close(): Promise<void>
}
