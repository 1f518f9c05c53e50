const CARRIAGE_RETURN = 0x0d

/**
 * Finds the end of a form's file, at a quarter of what busboy's search costs and without a copy. It begins
 * where busboy is known to stand within the file with nothing held back, and hands the delimiter and what
 * follows to it again.
 */
export class FileScan {
  readonly #delimiter: Buffer
  /** Bytes at the end of what came that may begin the delimiter; they are its first bytes. */
  #held = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /**
   * Whether busboy stands within the file and holds nothing back, by what it did with its last piece: of the
   * file's bytes that it gave out some came from the piece, in which the file does not end.
   * @param fileBytes that it gave out meanwhile; what it had held back is less than a delimiter
   */
  mayBegin(piece: Uint8Array, fileBytes: number): boolean {
    // The piece is longer than what may be held back, so that its end tells what is.
    if (fileBytes < this.#delimiter.length || piece.length < this.#delimiter.length) return false
    const bytes = bufferOf(piece)
    return !bytes.includes(this.#delimiter) && this.#beginOfDelimiter(bytes) === 0
  }

  /**
   * @param give gets the bytes that are the file's, lent
   * @returns the delimiter and what follows it; null while the file goes on
   */
  take(piece: Uint8Array, give: (bytes: Uint8Array) => void): Buffer | null {
    const delimiter = this.#delimiter
    const before = delimiter.subarray(0, this.#held)
    if (piece.length < delimiter.length) return this.#search(Buffer.concat([before, piece]), give)
    const at = Buffer.concat([before, piece.subarray(0, delimiter.length - 1)]).indexOf(delimiter)
    if (at < 0) {
      if (before.length > 0) give(before)
      return this.#search(bufferOf(piece), give)
    }
    // It begins in what was held back, of which all before it is the file's.
    if (at > 0) give(before.subarray(0, at))
    return Buffer.concat([before.subarray(at), piece])
  }

  #search(bytes: Buffer, give: (bytes: Uint8Array) => void): Buffer | null {
    const at = bytes.indexOf(this.#delimiter)
    this.#held = at < 0 ? this.#beginOfDelimiter(bytes) : 0
    const end = at < 0 ? bytes.length - this.#held : at
    if (end > 0) give(bytes.subarray(0, end))
    return at < 0 ? null : Buffer.from(bytes.subarray(at))
  }

  /**
   * @returns how many bytes at the end may begin the delimiter, in which there is one carriage return, its
   * first byte
   */
  #beginOfDelimiter(bytes: Buffer): number {
    const end = bytes.subarray(-(this.#delimiter.length - 1))
    const at = end.lastIndexOf(CARRIAGE_RETURN)
    if (at < 0) return 0
    const begin = end.subarray(at)
    return begin.equals(this.#delimiter.subarray(0, begin.length)) ? begin.length : 0
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
