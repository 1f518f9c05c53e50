import type { Readable } from 'node:stream'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'

export interface EgressRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path with query, below the origin. */
  readonly path: string
  /** Flat list of name and value; lower-case names, without `content-length`. */
  readonly headers: readonly string[]
  /**
   * Several pieces are sent one after another; only a few KiB of them are joined. A stream is read as fast as
   * the peer takes it, and goes out in chunks unless it had ended before. The caller has to destroy a stream,
   * and a stream cannot be repeated.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** As in `EgressExchangeRequest`; absent: not known. */
  readonly bodyBytes?: number | null
  /**
   * `performance.now()` of the attempt's end: `upstream_slow` beyond. Read repeatedly, so that a stream may
   * put the end off.
   */
  readonly attemptEndsAt: number
  /**
   * The call: its signal cancels the request while it is unsent, and after that only when `mayCutSent`. The
   * signal is read only when the request has to wait, since making a signal costs more than sending. `sent`
   * is called when the request has a connection.
   */
  readonly call: { readonly signal: AbortSignal; sent?(isSent: boolean): void }
  readonly mayCutSent: boolean
  /**
   * True when sending the request twice does no harm: a kept-alive connection that turns out to be closed is
   * then replaced once.
   */
  readonly mayRepeat: boolean
  /**
   * Called when the request has a connection, in the tick that hands it to the socket, and again before a
   * repetition. False: nothing is sent, and the call fails with client_gone. A request whose `mayWrite` was
   * never called was not sent.
   */
  readonly mayWrite?: () => boolean
  /**
   * Bytes of a response with status 2xx; `upstream_too_large` beyond. Other responses are read to
   * UPSTREAM_ERROR_BYTES_MAX.
   */
  readonly answerBytesMax: number
  /**
   * True: the body of a response may be lent, see `owned` of schemas/values/lent-bytes.ts: it has to be used, or
   * copied, within the turn of the loop.
   */
  readonly mayLend?: boolean
  /**
   * The caller whose share of the response budget the response takes. Absent: no caller's share, for requests
   * of the operator.
   */
  readonly caller?: Caller
  /**
   * True: the answer may take minutes, and the call takes a place and a connection of the long calls, as
   * `TrustedOrigin.exchange` does. Vetted origins make no difference.
   */
  readonly isLong?: boolean
  /** Name in lower case of a header that the answer is read for, besides those of every answer. */
  readonly wantedHeader?: string
}

export interface EgressAnswer {
  readonly status: number
  /** The status is 2xx. */
  readonly isSuccess: boolean
  readonly retryAfter: string | null
  /** Value of the request's `wantedHeader`; absent: the answer has none, or none is wanted. */
  readonly wanted?: string
  /**
   * The whole body in one piece, decoded; at most UPSTREAM_ERROR_BYTES_MAX of it where the status is not 2xx.
   * Lent perhaps, where the request says `mayLend`.
   */
  readonly body: Uint8Array
  /** Returns the bytes of the body to the front's response budget; a second call does nothing. */
  readonly release: () => void
}

/** A GET whose response is read piece by piece. */
export interface EgressStreamRequest {
  /** Path with query, below the origin. */
  readonly path: string
  /** Headers as in `EgressRequest`. */
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
   * The body as it is sent, or decoded where the request says so; at most UPSTREAM_STREAM_BYTES_MAX of it and one read of the socket
   * wait here. A pending `next()` resolves in the turn of the loop in which bytes came, with all that one
   * read of the socket had. The caller has to close it. Failures: upstream_failed (the body broke off),
   * upstream_slow.
   */
  readonly body: ByteReader
}

/** An outgoing HTTP origin that the operator trusts: a keep-alive pool. Design §9. */
export interface TrustedOrigin {
  /**
   * Redirects are returned like other responses, never followed. Failures: upstream_failed, upstream_invalid
   * (content encoding), upstream_slow, upstream_too_large; client_gone, deadline_exceeded and draining when
   * the signal ended the request before it was sent; and busy when the pool or the response budget had no
   * room within the attempt.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the response has begun, whatever its status. Failures: upstream_failed, upstream_slow,
   * client_gone, deadline_exceeded, draining; busy when UPSTREAM_STREAMS_MAX are open.
   */
  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>>
  /**
   * A long call with a streamed response, on connections of the long calls alone. Resolves when the response
   * has begun, whatever its status. The call holds a place of its caller's share until the response has been
   * read or its connection has ended. Identity encoding is requested whatever `headers` say; responses have
   * at most UPSTREAM_HEADERS_BYTES_MAX of headers; informational responses and trailers are dropped. A
   * request with side effects (POST) is never sent twice. Failures: as `open`; header_invalid (a header
   * cannot be written into a request); busy with `retryAfterS` when no place is free.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
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
  /** Callbacks never speak plain HTTP, whatever the operator's allow-list says. */
  readonly purpose: 'caller' | 'callback'
  /**
   * The workspace that calls: it shares connections with no other workspace, and has at most
   * VETTED_WORKSPACE_CALLS_MAX calls at once. Absent: no workspace.
   */
  readonly workspaceId?: string
}

/** Any request whose response is streamed; the request may be streamed too. */
export interface EgressExchangeRequest {
  /** Any method but CONNECT. */
  readonly method: string
  /** Path with query, as it is sent. */
  readonly path: string
  /**
   * Flat list of name and value. The gate sets `host`, `content-length`, `expect` and hop-by-hop fields
   * itself; they are left out here.
   */
  readonly headers: readonly string[]
  /**
   * Several pieces are sent one after another; only a few KiB of them are joined. A stream is read as fast as
   * the peer takes it. The gate destroys the stream when it needs no more of it: at its end, when the
   * exchange fails, and when the whole response has come before the end, which ends the connection too.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  /** Bytes of a stream where the number is known: the stream is then not sent in chunks. */
  readonly bodyBytes: number | null
  /**
   * `performance.now()` until which the response has to begin, read again whenever that instant has come: a
   * body that still flows puts it off.
   */
  readonly beginsBy: () => number
  /**
   * Milliseconds that a reader waits for a piece. Only time in which `next()` is pending counts: a reader
   * that takes its time puts the end off.
   */
  readonly stallMs: number
  /** Its abort closes the connection in the same turn of the loop. */
  readonly signal: AbortSignal
  /**
   * How long the signal can end the exchange: until the response has begun, from when on the reader's `close`
   * ends it, or until the response has been read. Absent: 'head'.
   */
  readonly signalEnds?: 'head' | 'response'
  /**
   * Bytes that wait here for the reader; absent: UPSTREAM_STREAM_BYTES_MAX. One read of the socket may exceed
   * it.
   */
  readonly aheadBytesMax?: number
  /**
   * The body of the response is given without a content encoding. Failures of the body: also upstream_invalid
   * (an unknown encoding, or bytes that are not in it), busy. Absent: it is given as it is sent.
   */
  readonly isDecoded?: boolean
  /** Called when the request has a connection, in the turn that hands it to the socket. */
  readonly sent?: (isSent: boolean) => void
  /** The caller whose share of the places for long calls the exchange takes. Absent: no caller's share. */
  readonly caller?: Caller
}

export interface EgressExchange extends EgressStream {
  /** Flat list of name and value as received, names in lower case; hop-by-hop fields included. */
  readonly headers: readonly string[]
}

/**
 * A destination whose every connection is checked when it is made. The object may be kept: it holds no
 * connection. Design §9.
 */
export interface VettedOrigin {
  /**
   * Behaves as `TrustedOrigin.call`, and asks for identity encoding whatever `headers` say. Failures: also
   * destination_refused (an address of the name is not public). The `detail` of upstream_failed says whether
   * the name does not resolve or the certificate was refused.
   */
  call(request: EgressRequest): Promise<Outcome<EgressAnswer>>
  /**
   * Resolves when the response has begun, whatever its status; informational responses and trailers are
   * dropped. Failures: as `open` and `call`; header_invalid (a header cannot be written into a request);
   * client_gone when the body's stream failed or ended before `bodyBytes`.
   */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>>
  /**
   * Looks up the addresses of the name now, without connecting. Failures: destination_refused;
   * upstream_failed when the name does not resolve at this moment; busy. The result is not binding:
   * connections are checked again.
   */
  check(): Promise<Outcome<null>>
}

/** Room of the response budget. */
export interface AnswerRoom {
  readonly bytes: number
  /** Takes more room; false when no room is free now, and the room stays as it was. */
  grow(bytes: number): boolean
  /**
   * Takes more room, and waits for it. False: there will be none, since the answers that hold the rest wait
   * too, or the room was given back meanwhile. One wait at a time.
   */
  more(bytes: number): Promise<boolean>
  /** Gives all of the room back, and ends a wait. The room may be used again. */
  give(): void
}

/** The one gate to the outside. */
export interface Egress {
  /**
   * @param origin scheme, host and port of a provider of the operator's; the same origin gives the same pool
   */
  trusted(origin: string): TrustedOrigin
  /**
   * The way to a destination that a caller chose: HTTPS and a public address, unless the operator's
   * allow-list says otherwise. The same destination shares its connections. Failure: destination_refused
   * (host or port are not allowed).
   */
  vetted(destination: Destination): Outcome<VettedOrigin>
  /**
   * Takes room of the response budget for bytes that are made here; null when the budget or the caller's
   * share has none now.
   */
  hold(bytes: number, caller: Caller): AnswerRoom | null
  /**
   * Room of no bytes yet, for bytes of a response that come piece by piece.
   * @param isVetted the response comes from a destination that a caller chose
   */
  room(caller: Caller, isVetted: boolean): AnswerRoom
  /** Bytes of provider responses held now, and calls under way: both return to zero when nothing runs. */
  readonly load: { readonly heldBytes: number; readonly calls: number }
  close(): Promise<void>
}
