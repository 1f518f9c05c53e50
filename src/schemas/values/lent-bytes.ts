/** Memory of the gate that a later turn of the loop overwrites. */
const LENDING = new WeakSet<ArrayBufferLike>()

/**
 * A buffer over lent memory: its bytes must be used or copied within the turn. @param memory its ArrayBuffer
 * contains nothing else that is used for longer than a turn
 */
export function lendingBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  LENDING.add(buffer)
  return Buffer.from(buffer, byteOffset, length)
}

/**
 * The bytes in a form that stays valid after this turn of the loop: lent bytes are copied. Call it before
 * every wait, except for settled promises, and before bytes are sent to a thread.
 */
export function owned(bytes: Uint8Array): Uint8Array {
  return LENDING.has(bytes.buffer) ? Buffer.from(bytes) : bytes
}
