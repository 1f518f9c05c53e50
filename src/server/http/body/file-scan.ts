const CARRIAGE_RETURN = 0x0d
/**
 * Bytes of the delimiter that are searched first: for up to seven bytes Node uses the C library, which
 * searches for carriage returns with vector instructions; for more it uses a table and steps byte by byte.
 */
const BEGIN_BYTES = 7
/** Bytes of a piece that are examined for carriage returns. */
const SAMPLES = 32
/** Carriage returns among the sampled bytes from which the search by carriage returns would stop too often. */
const RETURNS_MIN = 2
/** Beginnings of the delimiter in a piece after which the whole delimiter is searched. */
const BEGINNINGS_MAX = 16

/**
 * Finds the end of a form's file at a quarter of the cost of busboy's search and without a copy. The scan
 * begins where busboy is known to be inside the file with no bytes held back, and returns the delimiter and
 * the bytes after it to busboy.
 */
export class FileScan {
  readonly #delimiter: Buffer
  readonly #begin: Buffer
  /** Bytes at the end of the last piece that may begin the delimiter; they equal the delimiter's first bytes. */
  #held = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#begin = this.#delimiter.subarray(0, BEGIN_BYTES)
  }

  /**
   * Determines from busboy's last piece whether busboy is inside the file and holds no bytes back: some of the
   * file's bytes that busboy emitted came from the piece, and the file does not end in the piece.
   * @param fileBytes bytes that busboy emitted for the piece; the bytes that it had held back before are
   * fewer than a delimiter
   */
  mayBegin(piece: Uint8Array, fileBytes: number): boolean {
    // The piece is longer than any bytes held back, so that its end shows them.
    if (fileBytes < this.#delimiter.length || piece.length < this.#delimiter.length) return false
    const bytes = bufferOf(piece)
    return !bytes.includes(this.#delimiter) && this.#beginOfDelimiter(bytes) === 0
  }

  /** @param give receives the file's bytes, lent @returns the delimiter and the bytes after it; null while the file continues */
  take(piece: Uint8Array, give: (bytes: Uint8Array) => void): Buffer | null {
    const delimiter = this.#delimiter
    const before = delimiter.subarray(0, this.#held)
    if (piece.length < delimiter.length) return this.#search(Buffer.concat([before, piece]), give)
    const at = Buffer.concat([before, piece.subarray(0, delimiter.length - 1)]).indexOf(delimiter)
    if (at < 0) {
      if (before.length > 0) give(before)
      return this.#search(bufferOf(piece), give)
    }
    // The delimiter begins in the bytes held back; the bytes before it belong to the file.
    if (at > 0) give(before.subarray(0, at))
    return Buffer.concat([before.subarray(at), piece])
  }

  #search(bytes: Buffer, give: (bytes: Uint8Array) => void): Buffer | null {
    const at = this.#placeIn(bytes)
    this.#held = at < 0 ? this.#beginOfDelimiter(bytes) : 0
    const end = at < 0 ? bytes.length - this.#held : at
    if (end > 0) give(bytes.subarray(0, end))
    return at < 0 ? null : Buffer.from(bytes.subarray(at))
  }

  /** @returns the place of the delimiter, or -1 */
  #placeIn(bytes: Buffer): number {
    const delimiter = this.#delimiter
    if (hasManyReturns(bytes)) return bytes.indexOf(delimiter)
    let at = bytes.indexOf(this.#begin)
    for (let nth = 0; at >= 0; nth++) {
      if (nth === BEGINNINGS_MAX) return bytes.indexOf(delimiter, at)
      if (bytes.subarray(at, at + delimiter.length).equals(delimiter)) return at
      at = bytes.indexOf(this.#begin, at + 1)
    }
    return at
  }

  /** @returns how many bytes at the end may begin the delimiter, whose first byte is its only carriage return */
  #beginOfDelimiter(bytes: Buffer): number {
    const end = bytes.subarray(-(this.#delimiter.length - 1))
    const at = end.lastIndexOf(CARRIAGE_RETURN)
    if (at < 0) return 0
    const begin = end.subarray(at)
    return begin.equals(this.#delimiter.subarray(0, begin.length)) ? begin.length : 0
  }
}

/** Samples bytes at random places, which no sender can foresee. */
function hasManyReturns(bytes: Uint8Array): boolean {
  let returns = 0
  for (let nth = 0; nth < SAMPLES; nth++) {
    if (bytes[Math.floor(Math.random() * bytes.length)] === CARRIAGE_RETURN) returns++
  }
  return returns >= RETURNS_MIN
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
