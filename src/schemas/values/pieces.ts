/** Bytes of all pieces. */
export function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** One piece in memory of its own, which can be moved to another thread, and keeps no other memory. */
export function joined(pieces: readonly Uint8Array[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytesOf(pieces))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
