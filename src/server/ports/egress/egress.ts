import type { Readable } from 'node:stream'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader, Upload } from '../byte-streams.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path with the query, without the origin. */
  readonly path: string
  /** Flat list of name and value; lower-case names, without `content-length`. */
  readonly headers: readonly string[]
  /**
   * Pieces are sent one after another. A stream is read as fast as the peer accepts it, and sent in chunks
   * unless it had already ended; it cannot be repeated, and the caller destroys it.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** As in `EgressExchangeRequest`; absent: not known. */
  readonly bodyBytes?: number | null
  /** `performance.now()` at which the attempt ends with `upstream_slow`. Read repeatedly, since a stream may postpone it. */
  readonly attemptEndsAt: number
  /**
   * The signal cancels a request that was not sent, or with `mayCutSent` also one that was. It is read only
   * when the request has to wait, since creating a signal costs more than sending. `sent`: the request has a
   * connection.
   */
  readonly call: { readonly signal: AbortSignal; sent?(isSent: boolean): void }
  readonly mayCutSent: boolean
  /** Sending twice does no harm: a kept-alive connection that turns out to be closed is replaced once. */
  readonly mayRepeat: boolean
  /**
   * Called in the tick in which the request is passed to the socket, and before a repetition; it is never
   * called when the request is not sent. False: nothing is sent, and the call fails with client_gone.
   */
  readonly mayWrite?: () => boolean
  /** Most bytes of a 2xx response; a larger one fails with `upstream_too_large`. Other responses are read up to UPSTREAM_ERROR_BYTES_MAX. */
  readonly answerBytesMax: number
  /** The body may be in a buffer that is reused (`owned` of schemas/values/lent-bytes.ts): use or copy it within the turn of the event loop. */
  readonly mayLend?: boolean
  /** The caller in whose share of the response budget the response counts. Absent: no share, for requests of the operator. */
  readonly caller?: Caller
  /** The answer may take minutes: it uses a place and a connection of the long calls, except on vetted origins. */
  readonly isLong?: boolean
  /** Lower-case name of a header to read in addition to those of every answer. */
  readonly wantedHeader?: string
}

export interface EgressAnswer {
  readonly status: number
  /** The status is 2xx. */
  readonly isSuccess: boolean
  readonly retryAfter: string | null
  /** Value of `wantedHeader`; absent: the answer does not have it, or no header is wanted. */
  readonly wanted?: string
  /** Decoded, in one piece; at most UPSTREAM_ERROR_BYTES_MAX if the status is not 2xx. With `mayLend` it may be in a reused buffer. */
  readonly body: Uint8Array
  /** Returns the bytes to the front's response budget; a second call does nothing. */
  readonly release: () => void
}

/** A GET whose response is read piece by piece. */
export interface EgressStreamRequest {
  /** Path with the query, without the origin. */
  readonly path: string
  /** As in `EgressRequest`. */
  readonly headers: readonly string[]
  /** `performance.now()` by which the response must begin, otherwise `upstream_slow`. */
  readonly beginsBy: number
  /** Milliseconds that a reader waits for a piece, then `upstream_slow`. */
  readonly stallMs: number
  /** Cancels the request until its response has begun; after that the reader's `close` does. */
  readonly signal: AbortSignal
}

export interface EgressStream {
  readonly status: number
  readonly isSuccess: boolean
  /** @param name lower case. @returns its first value, or null */
  header(name: string): string | null
  /**
   * As sent, or decoded on request; at most UPSTREAM_STREAM_BYTES_MAX plus one read of the socket wait here. A
   * pending `next()` resolves in the turn in which bytes arrive, with all bytes of that read. The caller
   * closes it. Failures: upstream_failed (broke off), upstream_slow.
   */
  readonly body: ByteReader
}

/** A keep-alive pool for an origin that the operator trusts. */
export interface TrustedOrigin {
  /**
   * Never follows redirects. Failures: upstream_failed, upstream_invalid (content encoding), upstream_slow,
   * upstream_too_large; client_gone, deadline_exceeded, draining (by the signal, before the request was sent);
   * busy (no room in the pool or the response budget within the attempt).
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the response has begun. Failures: upstream_failed, upstream_slow, client_gone,
   * deadline_exceeded, draining; busy (UPSTREAM_STREAMS_MAX open).
   */
  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>>
  /**
   * Uses only the connections of the long calls. Resolves when the response has begun; occupies a place of its
   * caller's share until the response has been read or its connection has ended. Asks for identity encoding
   * whatever `headers` say; at most UPSTREAM_HEADERS_BYTES_MAX of headers; drops informational responses and
   * trailers; never sends a POST twice. Failures: as `open`; header_invalid; busy with `retryAfterS` when no
   * place is free.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
}

export interface Destination {
  /** A host name in lower case without a trailing dot, an IPv4 address, or an IPv6 address in brackets as RFC 5952 writes it. */
  readonly host: string
  /** Null = 443. */
  readonly port: number | null
  /** Callbacks never use plain HTTP, even if the operator's allow-list allows it. */
  readonly purpose: 'caller' | 'callback'
  /** Its connections are not shared with other workspaces; at most VETTED_WORKSPACE_CALLS_MAX calls at once. Absent: no workspace. */
  readonly workspaceId?: string
}

export interface EgressExchangeRequest {
  /** Any method but CONNECT. */
  readonly method: string
  /** Path with the query, as it is sent. */
  readonly path: string
  /** Flat list of name and value, without `host`, `content-length`, `expect` and hop-by-hop fields, which the gate sets. */
  readonly headers: readonly string[]
  /**
   * As in `EgressRequest`, but the gate destroys a stream at its end, on a failure, and when the whole
   * response arrived before the stream ended; in the last case the connection is closed too.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** Length of a stream, which is then not sent in chunks; null: not known. */
  readonly bodyBytes: number | null
  /** `performance.now()` by which the response must begin; read again at that time, since a body that is still being sent postpones it. */
  readonly beginsBy: () => number
  /** Milliseconds that a reader waits for a piece, counted only while `next()` is pending. */
  readonly stallMs: number
  /** Its abort closes the connection in the same turn of the loop. */
  readonly signal: AbortSignal
  /** Until when the signal cancels the exchange: after 'head' only the reader's `close` does. Absent: 'head'. */
  readonly signalEnds?: 'head' | 'response'
  /** Most bytes that wait here for the reader, plus one read of the socket; absent: UPSTREAM_STREAM_BYTES_MAX. */
  readonly aheadBytesMax?: number
  /** Removes the content encoding. Failures of the body: also upstream_invalid (unknown or wrong encoding), busy. Absent: as sent. */
  readonly isDecoded?: boolean
  /** Called in the turn in which the request is passed to the socket. */
  readonly sent?: (isSent: boolean) => void
  /** The caller in whose share of the places for long calls it counts. Absent: no share. */
  readonly caller?: Caller
}

export interface EgressExchange extends EgressStream {
  /** Flat list of name and value as received, names in lower case; including hop-by-hop fields. */
  readonly headers: readonly string[]
}

/** Checks every connection when it is made. The object may be kept for long, since it holds no connection. */
export interface VettedOrigin {
  /**
   * Sends a request that asks for no compression. Failures: also destination_refused (not a public
   * address). The `detail` of upstream_failed distinguishes a name that does not resolve from a certificate that
   * was refused.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the response has begun; drops informational responses and trailers. Failures: as `open` and
   * `call`; header_invalid; client_gone when the body's stream failed or ended before `bodyBytes`.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
  /**
   * Looks the name up, without connecting; connections are checked again. Failures: destination_refused,
   * upstream_failed (does not resolve now), busy.
   */
  check(): Promise<Outcome<null>>
}

/** Room of the response budget. */
export interface AnswerRoom {
  readonly bytes: number
  /** False: the room is not available now, and the size is unchanged. */
  grow(bytes: number): boolean
  /**
   * Waits for more room, one wait at a time. False: no room will become free because the holders of the rest
   * are waiting too, or `give` was called.
   */
  more(bytes: number): Promise<boolean>
  /** Returns all of the room, and ends a pending wait. The room may be used again. */
  give(): void
}

/** The only gateway for outgoing connections. */
export interface Egress {
  /** @param origin scheme, host and port of an operator's provider; the same origin gives the same pool */
  trusted(origin: string): TrustedOrigin
  /** HTTPS to a public address, unless the operator's allow-list allows more; connections are shared by destination. Failure: destination_refused. */
  vetted(destination: Destination): Outcome<VettedOrigin>
  /** Room of the response budget for bytes that are produced here; null when the budget or the caller's share has no room now. */
  hold(bytes: number, caller: Caller): AnswerRoom | null
  /** Room of 0 bytes at first, for bytes that arrive piece by piece. @param isVetted the destination was chosen by a caller */
  room(caller: Caller, isVetted: boolean): AnswerRoom
  /** Bytes of provider responses held now, and calls in progress: both are 0 when idle. */
  readonly load: { readonly heldBytes: number; readonly calls: number }
  close(): Promise<void>
}

export interface RelayedRequest {
  /** In upper case, unlike the methods of the HTTP server. */
  readonly method: string
  /** Undecoded, without the question mark; null when there is no query. */
  readonly query: string | null
  /** Flat list of name and value in the order of arrival, names in lower case; one pair for every field line. */
  readonly headers: readonly string[]
  /** Bytes announced; null when the body is chunked. 0: there is no body. */
  readonly bodyBytes: number | null
  /** Paused until `receive`, and relayed as it arrives, without a size limit. */
  readonly body: Upload
}

export interface RelayedAnswer {
  readonly status: number
  /** Flat list of name and value; hop-by-hop fields and the length are left out. */
  readonly headers: readonly string[]
  /** Null when the response does not state it: the body is then sent in chunks. */
  readonly bodyBytes: number | null
  /** The reply closes the body, on every path. */
  readonly body: ByteReader
}
