/**
 * What we use of uWebSockets.js' request and response. Its own typings describe another version than its
 * binary, so this list, and not theirs, is what the rest of `http` is written against.
 */
export interface WireRequest {
  /** Lower case. */
  getMethod(): string
  /** Path as sent, undecoded, without the query. */
  getUrl(): string
  /** Typed as text by the library; it is undefined without a query. */
  getQuery(): string | undefined
  forEach(take: (name: string, value: string) => void): void
}

export type WireBytes = string | Uint8Array

/** Valid until the last byte is handed over or `onAborted` fires; any touch after that throws. */
export interface WireResponse {
  writeStatus(status: string): unknown
  /** Writes the text of the two as a line, at any time before the end. */
  writeHeader(name: string, value: string): unknown
  /**
   * A piece of an answer whose length is not known; the first one that is not empty sends the head. False:
   * wait for `onWritable`.
   */
  write(piece: Uint8Array): boolean
  /** Copies what the socket does not take, without bound. */
  end(body: WireBytes, closeConnection?: boolean): unknown
  /** Only without arguments: with a length the request stays open. */
  endWithoutBody(): unknown
  /**
   * The first call writes `content-length: totalBytes`; each ends the answer when it reaches its own
   * `totalBytes`.
   * @returns whether all was accepted, and whether the answer ended: then the object is dead
   */
  tryEnd(part: WireBytes, totalBytes: number): [boolean, boolean]
  getWriteOffset(): number
  onWritable(resumeAt: (offset: number) => boolean): unknown
  onAborted(gone: () => void): unknown
  /** The chunk is detached when the callback returns. */
  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  pause(): unknown
  resume(): unknown
  cork(write: () => void): unknown
  /** Cuts the connection; `onAborted` fires. */
  close(): unknown
}
