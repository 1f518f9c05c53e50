import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
} from 'node:zlib'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { assemble } from './assemble.ts'

/** Bytes of one piece of a decoded answer, and of a decoded stream, whose events are small. */
const PIECE_BYTES = 256 * 1024
const STREAM_PIECE_BYTES = 16 * 1024

/** A part of the bytes is decoded without the rest; a body that is cut off gives what came of it. */
const [ZLIB_FLUSH, BROTLI_FLUSH] = [constants.Z_SYNC_FLUSH, constants.BROTLI_OPERATION_FLUSH]
const STREAMED = { chunkSize: STREAM_PIECE_BYTES, flush: ZLIB_FLUSH, finishFlush: ZLIB_FLUSH }
const STREAMED_BROTLI = { chunkSize: STREAM_PIECE_BYTES, flush: BROTLI_FLUSH, finishFlush: BROTLI_FLUSH }
const WHOLE = { chunkSize: PIECE_BYTES }

export type Decoder = Gunzip | BrotliDecompress

/**
 * Undoes a content encoding.
 * @param first byte of the body: some servers send deflate without the header of zlib
 * @param isStream the body is decoded as it comes
 * @returns null: the encoding is not known
 */
export function decoderOf(contentEncoding: string, first: number, isStream: boolean): Decoder | null {
  const options = isStream ? STREAMED : WHOLE
  switch (contentEncoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(options)
    case 'deflate':
      return (first & ZLIB_METHOD_BITS) === ZLIB_METHOD ? createInflate(options) : createInflateRaw(options)
    case 'br':
      return createBrotliDecompress(isStream ? STREAMED_BROTLI : WHOLE)
    default:
      return null
  }
}

/** In the first byte of a body with the header of zlib: deflate. */
const [ZLIB_METHOD_BITS, ZLIB_METHOD] = [0x0f, 8]

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
  const decoder = decoderOf(contentEncoding, body[0] ?? 0, false)
  if (decoder === null) return fail('upstream_invalid', { cause: new Error('unknown content encoding') })
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
