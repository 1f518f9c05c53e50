import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { assemble } from './assemble.ts'

/** Bytes of one piece of a decoded answer. */
const PIECE_BYTES = 256 * 1024

const DECODERS = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES }),
}

export interface DecodeLimits {
  readonly bytesMax: number
  /** Waits for room for a piece; false when the attempt has ended meanwhile. */
  readonly room: (bytes: number) => boolean | Promise<boolean>
}

export function isPlain(contentEncoding: string): boolean {
  return contentEncoding === '' || contentEncoding === 'identity'
}

/**
 * Undoes a content encoding that the request did not ask for. zlib works on the thread pool, piece by piece
 * under the limit.
 * Failures: upstream_invalid (an unknown encoding, or bytes that are not in it), upstream_too_large, busy.
 */
export async function decode(
  body: Uint8Array,
  contentEncoding: string,
  limits: DecodeLimits,
): Promise<Outcome<Uint8Array>> {
  if (!isKnown(contentEncoding))
    return fail('upstream_invalid', { cause: new Error('unknown content encoding') })
  const decoder = DECODERS[contentEncoding]()
  const pieces: Uint8Array[] = []
  let sizeBytes = 0
  decoder.end(body)
  try {
    for await (const piece of decoder as AsyncIterable<Uint8Array>) {
      sizeBytes += piece.length
      if (sizeBytes > limits.bytesMax)
        return fail('upstream_too_large', { fields: { limit: limits.bytesMax } })
      if (!(await limits.room(piece.length))) return fail('busy')
      pieces.push(piece)
    }
  } catch (cause) {
    return fail('upstream_invalid', { cause })
  }
  return ok(await assemble(pieces, sizeBytes))
}

function isKnown(contentEncoding: string): contentEncoding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, contentEncoding)
}
