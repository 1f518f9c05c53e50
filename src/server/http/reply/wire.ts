/** The part of uWebSockets.js that Sluice uses: the library's types describe another version than its binary, so `http` uses these. */
export interface WireRequest {
  /** Lower case. */
  getMethod(): string
  /** Path as sent, not decoded, without the query. */
  getUrl(): string
  /** The library types it as text; it is undefined without a query. */
  getQuery(): string | undefined
  forEach(take: (name: string, value: string) => void): void
}

export type WireBytes = string | Uint8Array

/** Valid until the last byte is written or `onAborted` fires; any later use throws. */
export interface WireResponse {
  writeStatus(status: string): unknown
  /** Writes a header line from both texts, at any time before the end. */
  writeHeader(name: string, value: string): unknown
  /** Writes a piece of an answer of unknown length; the first non-empty piece sends the head. False: wait for `onWritable`. */
  write(piece: Uint8Array): boolean
  /** Copies the bytes that the socket does not accept, without limit. */
  end(body: WireBytes, closeConnection?: boolean): unknown
  /** Call it without arguments: with a length the request stays open. */
  endWithoutBody(): unknown
  /**
   * The first call writes `content-length: totalBytes`; each call ends the answer when it reaches its own
   * `totalBytes`.
   * @returns whether all bytes were accepted, and whether the answer ended: then the object must not be used
   * any more
   */
  tryEnd(part: WireBytes, totalBytes: number): [boolean, boolean]
  getWriteOffset(): number
  /** The peer's address: 4 bytes, or 16 for IPv6. */
  getRemoteAddress(): ArrayBuffer
  onWritable(resumeAt: (offset: number) => boolean): unknown
  onAborted(gone: () => void): unknown
  /** The chunk is detached after the callback. */
  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  pause(): unknown
  resume(): unknown
  cork(write: () => void): unknown
  /** Cuts the connection; `onAborted` fires. */
  close(): unknown
}
