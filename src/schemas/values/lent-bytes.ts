/** Memory of the gate whose bytes are overwritten by a later turn of the loop. */
const LENDING = new WeakSet<ArrayBufferLike>()

/**
 * A buffer over memory whose bytes are lent: what is made of them, or keeps them, has to be so within the turn.
 * @param memory nothing else lies in its ArrayBuffer for longer than a turn
 */
export function lendingBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  LENDING.add(buffer)
  return Buffer.from(buffer, byteOffset, length)
}

/**
 * The bytes for longer than this turn of the loop: a copy of lent ones. Call it before every wait for
 * anything but promises that are settled, and before bytes go to a thread.
 */
export function owned(bytes: Uint8Array): Uint8Array {
  return LENDING.has(bytes.buffer) ? Buffer.from(bytes) : bytes
}
