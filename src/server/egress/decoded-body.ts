import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
} from 'node:zlib'
import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { AnswerRoom } from '../ports/egress/egress.ts'
import { assemble } from './held-body.ts'

/** Largest window of a Brotli decoder in bytes: it keeps its last output, up to this size. RFC 7932 */
const WINDOW_BYTES_MAX = 16 * 1024 * 1024
/** Bytes of the window for which no room is taken. Decision. */
const WINDOW_FREE_BYTES = 64 * 1024

type Read = Outcome<Uint8Array | null>

/**
 * The body of a streamed response, decoded from a content encoding that the request did not ask for.
 * @param room of the budget of answers; null: the response takes none
 */
export function decodedBody(body: ByteReader, contentEncoding: string, room: AnswerRoom | null): ByteReader {
  const encoding = contentEncoding.trim().toLowerCase()
  return isPlain(encoding) ? body : new DecodedBody(body, encoding, room)
}

/**
 * A body that is decoded as it arrives: everything that one read of the socket completes is passed on before
 * the next read. zlib works on the thread pool, at most one piece ahead of the reader, even if a few bytes
 * decode to a large text. Failures, besides those of the body: upstream_invalid (an unknown encoding, or bytes
 * that are not in it), busy.
 */
class DecodedBody implements ByteReader {
  readonly #body: ByteReader
  readonly #encoding: string
  readonly #room: AnswerRoom | null
  #decoder: Decoder | null = null
  /** True while the decoder still has bytes to decode. */
  #isBusy = false
  #isFed = false
  #isOver = false
  #failure: Failure | null = null
  #givenBytes = 0
  #wake: (() => void) | null = null

  constructor(body: ByteReader, encoding: string, room: AnswerRoom | null) {
    this.#body = body
    this.#encoding = encoding
    this.#room = room
  }

  async next(): Promise<Read> {
    for (;;) {
      const piece = this.#decoder?.read() as Buffer | null | undefined
      if (piece !== null && piece !== undefined) return this.#given(piece)
      if (this.#failure !== null) return { ok: false, failure: this.#failure }
      if (this.#isOver) return ok(null)
      if (this.#isBusy || this.#isFed) await new Promise<void>((wake) => (this.#wake = wake))
      else await this.#feed()
    }
  }

  close(): void {
    this.#body.close()
    this.#decoder?.close()
    this.#room?.give()
    this.#fail({ name: 'client_gone' })
  }

  async #feed(): Promise<void> {
    const read = await this.#body.next()
    if (!read.ok) return this.#fail(read.failure)
    if (this.#failure !== null) return
    const { value } = read
    if (value?.length === 0) return
    this.#decoder ??= this.#begun(value?.[0] ?? 0)
    const decoder = this.#decoder
    if (decoder === null) return this.#fail({ name: 'upstream_invalid', detail: UNKNOWN })
    if (value === null) {
      this.#isFed = true
      // An empty body has no encoding and is not damaged.
      if (decoder.bytesWritten === 0) this.#isOver = true
      else decoder.end()
      return
    }
    this.#isBusy = true
    decoder.write(value, () => {
      this.#isBusy = false
      this.#awake()
    })
  }

  #begun(first: number): Decoder | null {
    const decoder = decoderOf(this.#encoding, first, true)
    if (decoder === null) return null
    decoder.on('readable', this.#awake)
    decoder.on('end', () => {
      this.#isOver = true
      this.#awake()
    })
    decoder.on('error', (cause) => this.#fail({ name: 'upstream_invalid', detail: DAMAGED, cause }))
    return decoder
  }

  /** Takes room for the window: a Brotli decoder keeps its output until the stream ends. */
  async #given(piece: Buffer): Promise<Read> {
    this.#givenBytes += piece.length
    const room = this.#room
    if (room === null || this.#encoding !== 'br' || this.#givenBytes <= WINDOW_FREE_BYTES) return ok(piece)
    const wanted = Math.min(this.#givenBytes, WINDOW_BYTES_MAX)
    // Doubled each time, so that room is seldom requested.
    const bytes = wanted <= room.bytes ? 0 : Math.min(wanted * 2, WINDOW_BYTES_MAX) - room.bytes
    return bytes === 0 || (await room.more(bytes)) ? ok(piece) : fail('busy')
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure
    this.#awake()
  }

  readonly #awake = (): void => {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}

const UNKNOWN = 'The response has an unknown content encoding.'
const DAMAGED = 'The response does not match its content encoding.'

/** Bytes of one piece of a decoded answer; below, of a decoded stream, whose events are small. */
const PIECE_BYTES = 256 * 1024

const STREAM_PIECE_BYTES = 16 * 1024

/** Flush modes that decode a part of the bytes without the rest: a body that is cut off yields the part that arrived. */
const [ZLIB_FLUSH, BROTLI_FLUSH] = [constants.Z_SYNC_FLUSH, constants.BROTLI_OPERATION_FLUSH]

const STREAMED = { chunkSize: STREAM_PIECE_BYTES, flush: ZLIB_FLUSH, finishFlush: ZLIB_FLUSH }

const STREAMED_BROTLI = { chunkSize: STREAM_PIECE_BYTES, flush: BROTLI_FLUSH, finishFlush: BROTLI_FLUSH }

const WHOLE = { chunkSize: PIECE_BYTES }

export type Decoder = Gunzip | BrotliDecompress

/**
 * Undoes a content encoding.
 * @param first byte of the body: some servers send deflate without the header of zlib
 * @param isStream the body is decoded as it arrives
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

/** Bits in the first byte of a body with the header of zlib: the method is deflate. */
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
