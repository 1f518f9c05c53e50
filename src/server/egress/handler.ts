import type { Readable } from 'node:stream'

export interface Line {
  /**
   * True when the bytes given to `onData` are in memory that the next read of any connection overwrites: they
   * must be copied or processed in the same turn of the loop.
   */
  readonly isLent: boolean
  /** Ends the connection; `onError` is called before this returns, unless the exchange is over. */
  cut(error: Error): void
  /** Continues reading after `onHead` or `onData` returned false. */
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
  /** True when a connection that had served responses before ended. */
  readonly isStale: boolean
  /** True for an error of the socket: every read and write on it fails with this error. */
  readonly isOfSocket: boolean
}

/** The part of a request that is sent. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: string | Uint8Array | readonly Uint8Array[] | Readable | null
  readonly bodyBytes?: number | null
}

/** One request and its response. Both HTTP clients of the gate report an exchange through this interface. */
export interface ExchangeHandler {
  readonly request: SentRequest
  /** True when the request need not be sent any more. */
  readonly isOver: boolean
  /** True while the request waits for a connection of a full pool; its client sets it. */
  isQueued?: boolean
  /** Called when the request has a connection. @returns false when nothing may be written: `onError` follows, and the connection is kept */
  onConnect(line: Line): boolean
  /** Called when the first byte of a response has arrived. */
  onResponseStarted(): void
  /** @returns false to pause reading */
  onHead(head: ResponseHead): boolean
  /** @returns false to pause reading */
  onData(bytes: Buffer): boolean
  /** Called last when the exchange succeeds; `onError` is called last when it fails. */
  onComplete(): void
  onError(error: Error, breakage: Breakage): void
}

export interface OriginClient {
  dispatch(handler: ExchangeHandler): void
  destroy(): Promise<void>
}

export const NO_BREAKAGE: Breakage = { isStale: false, isOfSocket: false }
/** The error passed to `onError` when `onConnect` returned false. */
export const UNSENT = new Error('not sent')
/** The error passed to `onError` for a request that HTTP/1.1 cannot express. */
export const UNWRITABLE = new Error('the path or a header cannot be written in HTTP/1.1')
/** The error with which handlers cut a connection. */
export const CUT = new Error('connection closed by the egress gate')
