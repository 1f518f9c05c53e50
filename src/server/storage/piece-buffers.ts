import {
  LARGE_PIECE_BYTES,
  READ_AHEAD_BYTES_MAX,
  STORAGE_PIECE_BYTES,
} from '../../schemas/files/file-limits.ts'

/** Bytes of buffers of each size that are kept for later readers. Decision. */
const FREE_BYTES_MAX = 16 * 1_048_576

/** Buffers that readers of files share: a download then allocates nothing for a piece. */
export class PieceBuffers {
  readonly #free = { small: [] as Buffer[], large: [] as Buffer[] }
  #largeBytesLent = 0

  /** Every reader may have one small buffer at a time. */
  small(): Buffer {
    return this.#free.small.pop() ?? Buffer.allocUnsafeSlow(STORAGE_PIECE_BYTES)
  }

  /** @returns null when READ_AHEAD_BYTES_MAX are lent */
  large(): Buffer | null {
    if (this.#largeBytesLent + LARGE_PIECE_BYTES > READ_AHEAD_BYTES_MAX) return null
    this.#largeBytesLent += LARGE_PIECE_BYTES
    return this.#free.large.pop() ?? Buffer.allocUnsafeSlow(LARGE_PIECE_BYTES)
  }

  /** @param buffer lent by this object; to be returned once */
  giveBack(buffer: Buffer): void {
    const isLarge = buffer.length === LARGE_PIECE_BYTES
    if (isLarge) this.#largeBytesLent -= LARGE_PIECE_BYTES
    const free = isLarge ? this.#free.large : this.#free.small
    if ((free.length + 1) * buffer.length <= FREE_BYTES_MAX) free.push(buffer)
  }
}
