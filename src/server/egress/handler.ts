import type { Readable } from 'node:stream'

export interface Line {
  /**
   * True when the bytes given to `onData` lie in memory that the next read of any connection overwrites: they
   * have to be copied or used up in the same turn of the loop.
   */
  readonly isLent: boolean
  /** Ends the connection; `onError` comes before this returns, unless the exchange is over. */
  cut(error: Error): void
  /** Reads on after `onHead` or `onData` returned false. */
  resume(): void
}

/** The head of a response that is not informational; valid while `onHead` runs. */
export interface ResponseHead {
  readonly status: number
  /** Bytes; -1: not stated by the response. */
  readonly contentLength: number
  /** Lower case; empty when absent. */
  readonly contentEncoding: string
  readonly retryAfter: string | null
  /** All headers as received, as a flat list with names in lower case. */
  list(): readonly string[]
}

/** How an exchange broke. */
export interface Breakage {
  /** The end of a connection that had served responses before. */
  readonly isStale: boolean
  /** The error is a socket's: every read and write on the socket fails with it. */
  readonly isOfSocket: boolean
}

/** The part of a request that goes over the wire. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  readonly bodyBytes?: number | null
}

/** One request and what becomes of it. Both HTTP clients of the gate drive exchanges through this. */
export interface ExchangeHandler {
  readonly request: SentRequest
  /** Nothing has to be sent any more. */
  readonly isOver: boolean
  /** The request waits for a connection of a full pool; its client sets it. */
  isQueued?: boolean
  /** The request has a connection. @returns false when nothing may be written: `onError` follows, and the connection stays */
  onConnect(line: Line): boolean
  /** The first byte of a response has come. */
  onResponseStarted(): void
  /** @returns false to pause reading */
  onHead(head: ResponseHead): boolean
  /** @returns false to pause reading */
  onData(bytes: Buffer): boolean
  /** The last call, or `onError` is. */
  onComplete(): void
  onError(error: Error, breakage: Breakage): void
}

export interface OriginClient {
  dispatch(handler: ExchangeHandler): void
  destroy(): Promise<void>
}

export const NO_BREAKAGE: Breakage = { isStale: false, isOfSocket: false }
/** What `onError` gets when `onConnect` returned false. */
export const UNSENT = new Error('not sent')
/** What `onError` gets for a request that HTTP/1.1 cannot write. */
export const UNWRITABLE = new Error('the path or a header cannot be written in HTTP/1.1')
/** What handlers cut a connection with. */
export const CUT = new Error('connection closed by the egress gate')
