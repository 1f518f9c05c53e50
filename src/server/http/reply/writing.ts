import type { Failure } from '../../../schemas/failures.ts'
import type { Timers } from '../timers.ts'
import type { WireResponse } from './wire.ts'

export interface ReplyWriter {
  /** Bytes of the body that were passed to the library. */
  readonly writtenBytes: number
  /** The client left. */
  stop(): void
}

export interface Writing {
  readonly res: WireResponse
  readonly timers: Pick<Timers, 'start'>
  /** True when the connection ends after this answer. */
  readonly isLast: boolean
  /** Pauses and resumes the socket, unless the socket is still receiving. */
  readonly beat: () => void
  /** Called after a write, accepted or not. @returns whether a paused request keeps the library from reporting free room */
  readonly wrote: () => boolean
  /** Called for a last answer after its last byte was written; calls `close` when the client has had time to read the answer. */
  readonly linger: (close: () => void) => void
  /** Called once when the last byte was written, unless stopped. */
  readonly over: () => void
  /** Called instead of `over` when the answer cannot be completed; the connection is cut. */
  readonly broken: (failure: Failure) => void
  /**
   * Counts bytes that wait for the client in the account of its organization.
   * @returns a function that returns them; it may be called repeatedly
   */
  readonly unread: (bytes: number) => () => void
  /** Runs callbacks of the library and of the loop, and handles their exceptions. */
  readonly guard: (act: () => void) => void
}

/**
 * Ends an answer in chunks whose connection closes. `end(…, true)` would write a header between the chunks,
 * and `end` alone leaves the connection open. But the library writes a header as text at any position: here
 * this writes the last chunk, a trailer field, and the empty line.
 */
export function endChunks(res: WireResponse): void {
  res.writeHeader('\r\n0\r\nx-sluice-end', '1\r\n')
}

/** Ends an answer that has written no chunk: its head is still open and names no encoding, so that a last chunk would be read as a body. */
export function endHead(res: WireResponse): void {
  res.writeHeader('date', new Date().toUTCString())
  res.writeHeader('content-length', '0\r\n')
}
