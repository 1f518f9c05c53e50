/** Bytes that are taken at once, so that a head in single bytes is not copied for each of them. */
const STEP_BYTES = 1024

const NOTHING = Buffer.alloc(0)

/** The lines of a head, or of trailers, that come in several reads. */
export class HeldHead {
  readonly bytesMax: number
  memory: Buffer = NOTHING
  bytes = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** Adds what still fits. @returns false when there was more */
  add(bytes: Buffer, from: number, to: number): boolean {
    const end = Math.min(to, from + this.bytesMax - this.bytes)
    const heldBytes = this.bytes + end - from
    if (heldBytes > this.memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(STEP_BYTES, 2 * heldBytes))
      this.memory.copy(larger, 0, 0, this.bytes)
      this.memory = larger
    }
    bytes.copy(this.memory, this.bytes, from, end)
    this.bytes = heldBytes
    return end === to
  }

  drop(): void {
    this.memory = NOTHING
    this.bytes = 0
  }
}
