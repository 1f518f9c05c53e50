/** Memory of the gate whose bytes are overwritten by a later turn of the loop. */
const LENDING = new WeakSet<ArrayBufferLike>()

/** A buffer whose bytes are lent: what is made of them, or keeps them, has to be so within the turn. */
export function lendingBuffer(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  LENDING.add(buffer.buffer)
  return buffer
}

/**
 * The bytes for longer than this turn of the loop: a copy of lent ones. Call it before every wait for
 * anything but promises that are settled, and before bytes go to a thread.
 */
export function owned(bytes: Uint8Array): Uint8Array {
  return LENDING.has(bytes.buffer) ? Buffer.from(bytes) : bytes
}
