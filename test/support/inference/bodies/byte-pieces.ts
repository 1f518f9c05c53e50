/** A body as it comes in pieces, and the room that a reader of it takes. */
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import type { ByteReader } from '../../../../src/server/ports/byte-streams.ts'
import type { AnswerRoom } from '../../../../src/server/ports/egress/egress.ts'

type Read = Outcome<Uint8Array | null>

/** Gives pieces whose memory is used again with the next one. */
export class Pieces implements ByteReader {
  isClosed = false
  /** How often it was read. */
  reads = 0
  readonly #reads: Read[]
  readonly #end: Read | 'never'
  #closed: (() => void) | null = null
  #last: Uint8Array | null = null

  /** @param end the body breaks off, or never comes to its end */
  constructor(pieces: readonly Uint8Array[], end: Read | 'never' = ok(null)) {
    this.#reads = pieces.map((piece) => ok(Uint8Array.from(piece)))
    this.#end = end
  }

  next(): Promise<Read> {
    this.#last?.fill(0x21)
    this.reads++
    const read = this.#reads.shift() ?? this.#end
    if (read === 'never') return new Promise((resolve) => (this.#closed = () => resolve(fail('client_gone'))))
    this.#last = read.ok ? read.value : null
    return Promise.resolve(read)
  }

  close(): void {
    this.isClosed = true
    this.#closed?.()
  }
}

/** Room of a budget. */
export class Room implements AnswerRoom {
  bytes = 0
  readonly #most: number

  constructor(most = Infinity) {
    this.#most = most
  }

  grow(bytes: number): boolean {
    if (this.bytes + bytes > this.#most) return false
    this.bytes += bytes
    return true
  }

  more(bytes: number): Promise<boolean> {
    return Promise.resolve(this.grow(bytes))
  }

  give(): void {
    this.bytes = 0
  }
}

/** All bytes, or the failure. */
export async function textOf(body: ByteReader): Promise<string> {
  const pieces: Buffer[] = []
  for (;;) {
    const read = await body.next()
    if (!read.ok) return read.failure.name
    if (read.value === null) return Buffer.concat(pieces).toString()
    pieces.push(Buffer.from(read.value))
  }
}

export const cutAt = (bytes: Buffer, at: number): readonly Buffer[] => [
  bytes.subarray(0, at),
  bytes.subarray(at),
]
export const singly = (bytes: Buffer): readonly Uint8Array[] =>
  Array.from(bytes, (byte) => Uint8Array.of(byte))
