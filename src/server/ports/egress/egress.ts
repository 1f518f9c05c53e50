import type { Readable } from 'node:stream'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader, Upload } from '../byte-streams.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With the query, below the origin. */
  readonly path: string
  /** Flat list of name and value; lower-case names, without `content-length`. */
  readonly headers: readonly string[]
  /**
   * Pieces are sent one after another. A stream is read as fast as the peer takes it, in chunks unless it had
   * ended before; it cannot be repeated, and the caller destroys it.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** As in `EgressExchangeRequest`; absent: not known. */
  readonly bodyBytes?: number | null
  /** `performance.now()` of the attempt's end: `upstream_slow` beyond. Read repeatedly, since a stream may put it off. */
  readonly attemptEndsAt: number
  /**
   * The signal cancels an unsent request, a sent one only when `mayCutSent`; it is read only when the request
   * has to wait, since making a signal costs more than sending. `sent`: the request has a connection.
   */
  readonly call: { readonly signal: AbortSignal; sent?(isSent: boolean): void }
  readonly mayCutSent: boolean
  /** Sending twice does no harm: a kept-alive connection that turns out to be closed is replaced once. */
  readonly mayRepeat: boolean
  /**
   * Called in the tick that hands the request to the socket, and before a repetition; never called: not sent.
   * False: nothing is sent, and the call fails with client_gone.
   */
  readonly mayWrite?: () => boolean
  /** Bytes of a 2xx response, `upstream_too_large` beyond; other responses are read to UPSTREAM_ERROR_BYTES_MAX. */
  readonly answerBytesMax: number
  /** The body may be lent (`owned` of schemas/values/lent-bytes.ts): use or copy it within the turn of the loop. */
  readonly mayLend?: boolean
  /** Whose share of the response budget the response takes. Absent: no share, for requests of the operator. */
  readonly caller?: Caller
  /** The answer may take minutes: takes a place and a connection of the long calls, except on vetted origins. */
  readonly isLong?: boolean
  /** Lower-case name of a header to read, besides those of every answer. */
  readonly wantedHeader?: string
}

export interface EgressAnswer {
  readonly status: number
  /** The status is 2xx. */
  readonly isSuccess: boolean
  readonly retryAfter: string | null
  /** Value of `wantedHeader`; absent: the answer has none, or none is wanted. */
  readonly wanted?: string
  /** Decoded, in one piece; at most UPSTREAM_ERROR_BYTES_MAX where the status is not 2xx. May be lent where `mayLend`. */
  readonly body: Uint8Array
  /** Returns the bytes to the front's response budget; a second call does nothing. */
  readonly release: () => void
}

/** A GET whose response is read piece by piece. */
export interface EgressStreamRequest {
  /** With the query, below the origin. */
  readonly path: string
  /** As in `EgressRequest`. */
  readonly headers: readonly string[]
  /** `performance.now()` until which the response has to begin: `upstream_slow` beyond. */
  readonly beginsBy: number
  /** Milliseconds that a reader waits for a piece: `upstream_slow` beyond. */
  readonly stallMs: number
  /** Ends the request until its response has begun; from then on the reader's `close` ends it. */
  readonly signal: AbortSignal
}

export interface EgressStream {
  readonly status: number
  readonly isSuccess: boolean
  /** @param name lower case. @returns its first value, or null */
  header(name: string): string | null
  /**
   * As sent, or decoded where asked; at most UPSTREAM_STREAM_BYTES_MAX and one read of the socket wait here.
   * A pending `next()` resolves in the turn in which bytes came, with all of one read. The caller closes it.
   * Failures: upstream_failed (broke off), upstream_slow.
   */
  readonly body: ByteReader
}

/** A keep-alive pool for an origin that the operator trusts. */
export interface TrustedOrigin {
  /**
   * Never follows redirects. Failures: upstream_failed, upstream_invalid (content encoding), upstream_slow,
   * upstream_too_large; by the signal, before it was sent: client_gone, deadline_exceeded, draining; busy: no
   * room in the pool or the response budget within the attempt.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the response has begun. Failures: upstream_failed, upstream_slow, client_gone,
   * deadline_exceeded, draining; busy (UPSTREAM_STREAMS_MAX open).
   */
  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>>
  /**
   * On connections of the long calls alone. Resolves when the response has begun; holds a place of its
   * caller's share until the response was read or its connection ended. Asks for identity encoding whatever
   * `headers` say; at most UPSTREAM_HEADERS_BYTES_MAX of headers; drops informational responses and trailers;
   * never sends a POST twice. Failures: as `open`; header_invalid; busy with `retryAfterS` when no place is
   * free.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
}

export interface Destination {
  /** A name in lower case without a trailing dot, an IPv4 address, or an IPv6 address in brackets as RFC 5952 writes it. */
  readonly host: string
  /** Null = 443. */
  readonly port: number | null
  /** Callbacks never speak plain HTTP, whatever the operator's allow-list says. */
  readonly purpose: 'caller' | 'callback'
  /** Shares connections with no other workspace; at most VETTED_WORKSPACE_CALLS_MAX calls at once. Absent: no workspace. */
  readonly workspaceId?: string
}

export interface EgressExchangeRequest {
  /** Any method but CONNECT. */
  readonly method: string
  /** With the query, as it is sent. */
  readonly path: string
  /** Flat list of name and value, without `host`, `content-length`, `expect` and hop-by-hop fields, which the gate sets. */
  readonly headers: readonly string[]
  /**
   * As in `EgressRequest`, but the gate destroys a stream: at its end, on a failure, and when the whole
   * response came before the end, which ends the connection too.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** Length of a stream where it is known: it is then not sent in chunks. */
  readonly bodyBytes: number | null
  /** `performance.now()` until which the response has to begin; read again at that instant: a body that flows puts it off. */
  readonly beginsBy: () => number
  /** Milliseconds that a reader waits for a piece, counted only while `next()` is pending. */
  readonly stallMs: number
  /** Its abort closes the connection in the same turn of the loop. */
  readonly signal: AbortSignal
  /** When the signal stops to end the exchange; after 'head' the reader's `close` ends it. Absent: 'head'. */
  readonly signalEnds?: 'head' | 'response'
  /** Bytes that wait here for the reader, plus one read of the socket; absent: UPSTREAM_STREAM_BYTES_MAX. */
  readonly aheadBytesMax?: number
  /** Removes the content encoding. Failures of the body: also upstream_invalid (unknown or wrong encoding), busy. Absent: as sent. */
  readonly isDecoded?: boolean
  /** Called in the turn that hands the request to the socket. */
  readonly sent?: (isSent: boolean) => void
  /** Whose share of the places for long calls it takes. Absent: no share. */
  readonly caller?: Caller
}

export interface EgressExchange extends EgressStream {
  /** Flat list of name and value as received, names in lower case; hop-by-hop fields included. */
  readonly headers: readonly string[]
}

/** Checks every connection when it is made. The object may be kept: it holds no connection. */
export interface VettedOrigin {
  /**
   * As `TrustedOrigin.call`, but asks for identity encoding. Failures: also destination_refused (not a public
   * address). The `detail` of upstream_failed says whether the name does not resolve or the certificate was
   * refused.
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
  /** False: no room is free now, and the room stays as it was. */
  grow(bytes: number): boolean
  /** Waits for more room, one wait at a time. False: there will be none, since the holders of the rest wait too, or `give` was called. */
  more(bytes: number): Promise<boolean>
  /** Gives all of the room back, and ends a wait. The room may be used again. */
  give(): void
}

/** The one gate to the outside. */
export interface Egress {
  /** @param origin scheme, host and port of an operator's provider; the same origin gives the same pool */
  trusted(origin: string): TrustedOrigin
  /** HTTPS to a public address, unless the operator's allow-list differs; shares connections by destination. Failure: destination_refused. */
  vetted(destination: Destination): Outcome<VettedOrigin>
  /** Room of the response budget for bytes that are made here; null when the budget or the caller's share has none now. */
  hold(bytes: number, caller: Caller): AnswerRoom | null
  /** Room of no bytes yet, for bytes that come piece by piece. @param isVetted the destination was chosen by a caller */
  room(caller: Caller, isVetted: boolean): AnswerRoom
  /** Bytes of provider responses held now, and calls under way: both are zero when nothing runs. */
  readonly load: { readonly heldBytes: number; readonly calls: number }
  close(): Promise<void>
}

export interface RelayedRequest {
  /** Upper case: the HTTP server knows methods in lower case alone. */
  readonly method: string
  /** Undecoded, without the question mark; null when there is no query. */
  readonly query: string | null
  /** Flat list of name and value in the order of arrival, names in lower case; one entry for every field line. */
  readonly headers: readonly string[]
  /** Bytes announced; null when the body comes in chunks. 0 = there is no body. */
  readonly bodyBytes: number | null
  /** Paused until `receive`, and relayed as it comes, without a limit of its size. */
  readonly body: Upload
}

export interface RelayedAnswer {
  readonly status: number
  /** Flat list of name and value; hop-by-hop fields and the length are left out. */
  readonly headers: readonly string[]
  /** Null when the response does not say: the body then goes out in chunks. */
  readonly bodyBytes: number | null
  /** The reply closes the body, on every path. */
  readonly body: ByteReader
}
