/** Bytes that are copied in one turn of the loop: about a millisecond. */
const TURN_BYTES = 4 * 1024 * 1024

const EMPTY = new Uint8Array(0)

/**
 * Joins the pieces of a body; a large body over several turns, since a single copy of 100 MB would block the
 * loop.
 * @param pieces each piece leaves the list as soon as it is copied: no byte of a large body is in memory
 * twice
 */
export function assemble(pieces: Uint8Array[], sizeBytes: number): Uint8Array | Promise<Uint8Array> {
  const only = pieces[0]
  if (pieces.length === 1 && only !== undefined) return only
  return sizeBytes <= TURN_BYTES ? Buffer.concat(pieces, sizeBytes) : assembleInTurns(pieces, sizeBytes)
}

async function assembleInTurns(pieces: Uint8Array[], sizeBytes: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let filled = 0
  let turnEndsAt = TURN_BYTES
  for (const [at, piece] of pieces.entries()) {
    whole.set(piece, filled)
    filled += piece.length
    pieces[at] = EMPTY
    if (filled < turnEndsAt) continue
    turnEndsAt = filled + TURN_BYTES
    await nextTurn()
  }
  return whole
}

function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
