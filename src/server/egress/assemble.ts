/** Bytes that are copied in one turn of the loop: about a millisecond. */
const TURN_BYTES = 4 * 1024 * 1024

/** Joins the pieces of a body; a large one over several turns, since one copy of 100 MB would stop the loop. */
export function assemble(pieces: readonly Uint8Array[], sizeBytes: number): Uint8Array | Promise<Uint8Array> {
  const only = pieces[0]
  if (pieces.length === 1 && only !== undefined) return only
  return sizeBytes <= TURN_BYTES ? Buffer.concat(pieces, sizeBytes) : assembleInTurns(pieces, sizeBytes)
}

async function assembleInTurns(pieces: readonly Uint8Array[], sizeBytes: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let filled = 0
  let turnEndsAt = TURN_BYTES
  for (const piece of pieces) {
    whole.set(piece, filled)
    filled += piece.length
    if (filled < turnEndsAt) continue
    turnEndsAt = filled + TURN_BYTES
    await nextTurn()
  }
  return whole
}

function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
