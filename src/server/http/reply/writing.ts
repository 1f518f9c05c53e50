import type { Failure } from '../../../schemas/failures.ts'
import type { Timers } from '../timers.ts'
import type { WireResponse } from './wire.ts'

export interface ReplyWriter {
  /** Bytes of the body that the library has taken. */
  readonly writtenBytes: number
  /** The client left. */
  stop(): void
}

export interface Writing {
  readonly res: WireResponse
  readonly timers: Pick<Timers, 'start'>
  /** The connection ends after this answer. */
  readonly isLast: boolean
  /** Pauses and resumes the socket, unless the socket is still receiving. */
  readonly beat: () => void
  /** Reports a write or its refusal. @returns whether a paused request keeps the library from reporting free room */
  readonly wrote: () => boolean
  /** Called for a last answer after its last byte was written: `close` may be called once the client can have read the answer. */
  readonly linger: (close: () => void) => void
  /** The last byte was written. Called once, unless stopped. */
  readonly over: () => void
  /** The answer cannot be completed; the connection is cut. Called instead of `over`. */
  readonly broken: (failure: Failure) => void
  /**
   * Counts bytes that wait for the client in the account of its organization.
   * @returns gives them back; may be called repeatedly
   */
  readonly unread: (bytes: number) => () => void
  /** Runs callbacks of the library and of the loop, and handles their exceptions. */
  readonly guard: (act: () => void) => void
}

/**
 * Ends an answer in chunks whose connection closes. `end(…, true)` would write a header among the chunks, and
 * `end` alone leaves the connection open. But the library writes a header as text at any position: here the
 * last chunk, a trailer field, and the empty line.
 */
export function endChunks(res: WireResponse): void {
  res.writeHeader('\r\n0\r\nx-sluice-end', '1\r\n')
}

/** Ends an answer without a chunk: its head is still open and names no encoding, so that the last chunk would be a body. */
export function endHead(res: WireResponse): void {
  res.writeHeader('date', new Date().toUTCString())
  res.writeHeader('content-length', '0\r\n')
}
