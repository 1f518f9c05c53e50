import { Readable } from 'node:stream'
import type { EgressRequest } from '../ports/egress/egress.ts'

/** Bytes that are given to the socket at once: a single write of 31 MiB blocks the loop for 8 ms. */
export const PIECE_BYTES = 256 * 1024

/** Bytes up to which the parts of a body are joined: copying them costs a microsecond; a stream with a write for each part costs forty. Decision. */
export const JOINED_BODY_BYTES_MAX = 16 * 1024

export interface RequestBody {
  readonly content: string | Uint8Array | Readable | null
  /** The content-length header: undici cannot know the length of a stream. Null: the body is no stream, or its length is unknown. */
  readonly lengthHeader: string | null
}

/**
 * Puts a body into the form that undici sends best; parts above JOINED_BODY_BYTES_MAX are sent piece by piece
 * and are never joined. A stream made here can be read once: call this function again for every sending.
 */
export function bodyOf(body: EgressRequest['body']): RequestBody {
  if (body === null || typeof body === 'string' || body instanceof Readable)
    return { content: body, lengthHeader: null }
  if (body instanceof Uint8Array)
    return body.length <= PIECE_BYTES ? { content: body, lengthHeader: null } : inPieces([body])
  return inPieces(body)
}

function inPieces(parts: readonly Uint8Array[]): RequestBody {
  const sizeBytes = parts.reduce((sum, part) => sum + part.length, 0)
  if (sizeBytes <= JOINED_BODY_BYTES_MAX) return { content: Buffer.concat(parts), lengthHeader: null }
  return {
    content: Readable.from(piecesOf([...parts]), { objectMode: false }),
    lengthHeader: String(sizeBytes),
  }
}

/**
 * @param parts are removed from the list as they are sent: a generator keeps its variables even after its end,
 * and a response may stream for an hour
 */
function* piecesOf(parts: Uint8Array[]): Generator<Uint8Array> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift())
    for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES)
}
