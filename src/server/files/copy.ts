import { endedBy } from '../../schemas/values/call-ended.ts'
import type { Failure, Outcome } from '../../schemas/failures.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { IntakeSession, IntakeVerdict } from '../ports/files/intake.ts'

/**
 * Copies the bytes of a reader into a session, at the session's pace. `copy` closes the reader; the caller
 * still has to cancel the session. Failures: those of the reader and the session, and that of the signal.
 */
export async function copy(
  reader: ByteReader,
  session: IntakeSession,
  signal: AbortSignal,
): Promise<Outcome<IntakeVerdict>> {
  const room = new Room(session)
  try {
    for (;;) {
      if (signal.aborted) return { ok: false, failure: endedBy(signal) }
      const piece = await reader.next()
      if (!piece.ok) return piece
      if (room.failure !== null) return { ok: false, failure: room.failure }
      if (piece.value === null) return await session.finish()
      if (!session.push(piece.value)) await room.wait()
    }
  } finally {
    reader.close()
  }
}

/** Waits for room in a session's window, or for the session's end. */
class Room {
  failure: Failure | null = null
  #goOn: (() => void) | null = null

  constructor(session: IntakeSession) {
    session.onRoom(() => this.#wake())
    session.onFailure((failure) => {
      this.failure = failure
      this.#wake()
    })
  }

  wait(): Promise<void> {
    return this.failure !== null ? Promise.resolve() : new Promise((resolve) => (this.#goOn = resolve))
  }

  #wake(): void {
    this.#goOn?.()
    this.#goOn = null
  }
}
