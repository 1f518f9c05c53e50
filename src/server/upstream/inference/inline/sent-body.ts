import { Readable } from 'node:stream'
import { fail, ok, type Failure, type Outcome } from '../../../../schemas/failures.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { base64Bytes, WITH_FILES } from '../../../../schemas/inference/inline-files.ts'
import type { ByteReader } from '../../../ports/byte-streams.ts'
import type { RequestPiece } from '../protocol.ts'
import type { FileHole } from './file-edits.ts'
import { jsonText, jsonTextBytes } from './json-text.ts'

/** Bytes of a request that are given to the socket at once, beside those of a file. */
const PIECE_BYTES = 256 * 1024
/** Bytes that base64 takes together. */
const TRIPLE = 3

/** The body of one request to a provider. */
export interface SentBody {
  /** Gives the content out, once: an answer may stream for an hour, and nothing more is sent. */
  take(): readonly Uint8Array[] | Readable
  /** Bytes of a stream; null: the gate counts the pieces. */
  readonly bytes: number | null
  /** Why the content broke off before its end; null: it did not. */
  readonly failure: Failure | null
  /** Ends the reading of files; to be called on every path. */
  close(): void
}

/** A request without files. */
export function arePlain(pieces: readonly RequestPiece[]): pieces is readonly Uint8Array[] {
  return pieces.every((piece) => piece instanceof Uint8Array)
}

/** The body of a request without files. */
export class PlainBody implements SentBody {
  readonly bytes = null
  readonly failure = null
  #content: readonly Uint8Array[]

  constructor(content: readonly Uint8Array[]) {
    this.#content = content
  }

  take(): readonly Uint8Array[] {
    const content = this.#content
    this.#content = []
    return content
  }

  close(): void {
    this.#content = []
  }
}

/**
 * The body of a request with files: each is read, and written as base64 or as a text, while the provider
 * takes what stands before it. At most a piece of a file is in memory. The length is known before: a text is
 * read once more for it, since it may need escapes. D31.
 * Failures: body_too_large (a text has many escapes), and those of `InlineFile.open` and of its content.
 */
export async function openBody(
  pieces: readonly RequestPiece[],
  signal: AbortSignal,
): Promise<Outcome<SentBody>> {
  const reading = new FileReading(signal)
  try {
    let bytes = 0
    for (const piece of pieces)
      bytes += piece instanceof Uint8Array ? piece.length : await writtenBytes(piece, reading)
    if (bytes > INFERENCE_BODY_BYTES_MAX)
      return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX }, detail: WITH_FILES })
    return ok(new FileBody(pieces, bytes, reading))
  } catch (cause) {
    if (reading.failure === null) throw cause
    return { ok: false, failure: reading.failure }
  }
}

async function writtenBytes({ file, form }: FileHole, reading: FileReading): Promise<number> {
  if (form !== 'text') return base64Bytes(file.sizeBytes)
  let bytes = 0
  for await (const part of reading.partsOf(file)) bytes += jsonTextBytes(part)
  return bytes
}

/** Reads files one after another. */
class FileReading {
  /** Why the last file could not be read; null: all could. */
  failure: Failure | null = null
  readonly #signal: AbortSignal
  #reader: ByteReader | null = null
  #isClosed = false

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Parts of a file, each valid until the next. Throws when the file cannot be read, and sets `failure`. */
  async *partsOf(file: FileHole['file']): AsyncGenerator<Uint8Array> {
    const content = this.#taken(await file.open(this.#signal))
    try {
      const reader = this.#taken(await content.read(0, file.sizeBytes))
      this.#reader = reader
      try {
        for (;;) {
          const part = this.#isClosed ? null : this.#taken(await reader.next())
          if (part === null) break
          yield part
        }
      } finally {
        this.#reader = null
        reader.close()
      }
    } finally {
      content.close()
    }
  }

  /** Ends a wait for a part too. */
  close(): void {
    this.#isClosed = true
    this.#reader?.close()
  }

  #taken<T>(outcome: Outcome<T>): T {
    if (outcome.ok) return outcome.value
    if (!this.#isClosed) this.failure = outcome.failure
    throw new Error('a file of the request could not be read')
  }
}

class FileBody implements SentBody {
  readonly bytes: number
  readonly #reading: FileReading
  readonly #content: Readable

  constructor(pieces: readonly RequestPiece[], bytes: number, reading: FileReading) {
    this.bytes = bytes
    this.#reading = reading
    this.#content = Readable.from(written([...pieces], reading), { objectMode: false })
    // `failure` says why.
    this.#content.on('error', () => undefined)
  }

  get failure(): Failure | null {
    return this.#reading.failure
  }

  take(): Readable {
    return this.#content
  }

  close(): void {
    this.#reading.close()
    this.#content.destroy()
  }
}

/** @param pieces are taken out as they go: a generator that has ended keeps its variables */
async function* written(pieces: RequestPiece[], reading: FileReading): AsyncGenerator<Uint8Array> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift())
    yield* piece instanceof Uint8Array ? cut(piece) : contentOf(piece, reading)
}

function* cut(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES)
}

async function* contentOf({ file, form }: FileHole, reading: FileReading): AsyncGenerator<Uint8Array> {
  let left = Buffer.alloc(0)
  for await (const part of reading.partsOf(file)) {
    if (form === 'text') {
      yield jsonText(part)
      continue
    }
    const bytes = Buffer.concat([left, part])
    const end = bytes.length - (bytes.length % TRIPLE)
    left = bytes.subarray(end)
    if (end > 0) yield base64Of(bytes, end)
  }
  if (left.length > 0) yield base64Of(left, left.length)
}

function base64Of(bytes: Buffer, end: number): Uint8Array {
  return Buffer.from(bytes.toString('base64', 0, end), 'latin1')
}
