import { Readable } from 'node:stream'
import { PROVIDER_PIECE_BYTES, PROVIDER_UPLOAD_BYTES_MAX } from '../../../schemas/files/file-limits.ts'

/**
 * A form with one file: the form is written as the file arrives and read as the provider takes it. The form
 * holds its last piece, up to PROVIDER_PIECE_BYTES, until `finish`: a form that ends earlier has neither the
 * whole file nor an end.
 */
export class FormStream {
  readonly contentType: string
  /** The whole body; the stream emits no error. */
  readonly body: Readable
  /** True when a piece of the file has left the form. */
  hasBegun = false
  readonly #boundary: string
  readonly #onRoom: () => void
  #piece = Buffer.alloc(0)
  #filledBytes = 0
  #isFull = false

  /**
   * @param boundary text that the writer of a field cannot know
   * @param onRoom called when a full form has
   * room again
   */
  constructor(boundary: string, onRoom: () => void) {
    this.contentType = `multipart/form-data; boundary=${boundary}`
    this.#boundary = boundary
    this.#onRoom = onRoom
    this.body = new Readable({ highWaterMark: PROVIDER_UPLOAD_BYTES_MAX, read: () => this.#read() })
    this.body.on('error', () => undefined)
  }

  /** Writes the head of the file's part. */
  begin(filename: string, type: string): void {
    const name = filename.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
    this.#push(
      Buffer.from(
        `--${this.#boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
      ),
    )
  }

  /** Copies the bytes. @returns whether the form has room; on false the caller writes again after `onRoom` */
  write(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length;) {
      if (this.#filledBytes === this.#piece.length) this.#nextPiece()
      const count = Math.min(this.#piece.length - this.#filledBytes, bytes.length - at)
      this.#piece.set(bytes.subarray(at, at + count), this.#filledBytes)
      this.#filledBytes += count
      at += count
    }
    return !this.#isFull
  }

  /** Writes the held piece, the fields and the end. */
  finish(fields: readonly (readonly [name: string, value: string])[]): void {
    this.#push(this.#piece.subarray(0, this.#filledBytes))
    const parts = fields.map(
      ([name, value]) =>
        `\r\n--${this.#boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`,
    )
    this.#push(Buffer.from(`${parts.join('')}\r\n--${this.#boundary}--\r\n`))
    this.body.push(null)
  }

  /** Drops the waiting bytes; may be called at any time. */
  destroy(): void {
    this.body.destroy()
  }

  #nextPiece(): void {
    if (this.#filledBytes > 0) {
      this.hasBegun = true
      this.#push(this.#piece)
    }
    this.#piece = Buffer.allocUnsafeSlow(PROVIDER_PIECE_BYTES)
    this.#filledBytes = 0
  }

  #push(bytes: Uint8Array): void {
    this.#isFull = !this.body.push(bytes)
  }

  #read(): void {
    if (!this.#isFull) return
    this.#isFull = false
    this.#onRoom()
  }
}
