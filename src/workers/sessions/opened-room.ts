import {
  LARGE_PIECE_BYTES,
  OPENED_BYTES_MAX,
  OPENED_PIECES_MAX,
  STORAGE_PIECE_BYTES,
} from '../../schemas/files/file-limits.ts'
import { SEGMENT_BYTES } from '../seal/format.ts'

/** Divides OPENED_BYTES_MAX among the sealed downloads of a front. */
export class OpenedRoom {
  readonly #readers: () => number
  /** Bytes of all pieces that were allowed and are not finished. */
  #lentBytes = 0

  /** @param readers sealed downloads under way */
  constructor(readers: () => number) {
    this.#readers = readers
  }

  /**
   * @param isSteady the reader keeps up; it gets a large piece while all pieces together take at most half
   * @returns bytes that the next piece may have, at least a segment; to be given back once
   */
  take(isSteady: boolean): number {
    const fair = Math.floor(OPENED_BYTES_MAX / OPENED_PIECES_MAX / Math.max(1, this.#readers()))
    const isLarge = isSteady && this.#lentBytes + LARGE_PIECE_BYTES <= OPENED_BYTES_MAX / 2
    const most = isLarge ? LARGE_PIECE_BYTES : STORAGE_PIECE_BYTES
    const bytes = Math.min(most, Math.max(SEGMENT_BYTES, fair))
    this.#lentBytes += bytes
    return bytes
  }

  giveBack(bytes: number): void {
    this.#lentBytes -= bytes
  }
}
