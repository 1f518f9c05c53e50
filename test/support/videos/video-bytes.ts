import type { Outcome } from '../../../src/schemas/failures.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'

/** All of a download, or the name of what it failed by; it is closed in either case. */
export async function bytesOf(opened: Outcome<ByteReader>): Promise<Buffer | string> {
  if (!opened.ok) return opened.failure.name
  const pieces: Buffer[] = []
  try {
    for (;;) {
      const piece = await opened.value.next()
      if (!piece.ok) return piece.failure.name
      if (piece.value === null) return Buffer.concat(pieces)
      pieces.push(Buffer.from(piece.value))
    }
  } finally {
    opened.value.close()
  }
}
