import { Readable } from 'node:stream'
import { fail, ok, type Failure, type Outcome } from '../../../../schemas/failures.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { base64Bytes, WITH_FILES } from '../../../../schemas/inference/inline-files.ts'
import type { Caller } from '../../../../schemas/values/callers.ts'
import { endedBy } from '../../../../schemas/values/call-ended.ts'
import type { ByteReader } from '../../../ports/byte-streams.ts'
import { FairSemaphore } from '../../../structures/fair-semaphore.ts'
import type { RequestPiece } from '../protocol.ts'
import type { ContentHole } from './file-edits.ts'

/** Bytes of a request that are given to the socket at once, not counting those of a file. */
const PIECE_BYTES = 256 * 1024
/** Bytes of a file that one turn of the loop writes: two milliseconds if each byte needs a long escape. */
const TURN_BYTES = 32 * 1024
/** Number of bytes that base64 encodes together. */
const TRIPLE = 3

export interface SentBody {
  /** Returns the content; may be called once: an answer may stream for an hour, and the content is not sent again. */
  take(): readonly Uint8Array[] | Readable
  /** Number of bytes of a stream; null: the gate counts the bytes of the pieces. */
  readonly bytes: number | null
  /** Why the content broke off before its end; null when it did not. */
  readonly failure: Failure | null
  /** Stops reading files; to be called on every path. */
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

/** The caller of a request with files, and the signal that ends it. */
export interface Sending {
  readonly caller: Caller
  readonly signal: AbortSignal
}

/**
 * The body of a request with files: each file is read, and written as base64 or as text, while the provider reads the
 * bytes before it. At most one piece of a file is in memory. The length is known in advance: for this a text is read
 * one extra time, since it may need escapes. Failures: body_too_large (a text has many escapes), those of
 * `InlineFile.open` and of its content, and of the signal.
 */
export async function openBody(
  pieces: readonly RequestPiece[],
  sending: Sending,
): Promise<Outcome<SentBody>> {
  const reading = new FileReading(sending)
  try {
    let bytes = 0
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) bytes += piece.length
      else if (piece.form !== 'text') bytes += base64Bytes(piece.file.sizeBytes)
      else
        for await (const more of reading.partsOf(piece.file, jsonTextBytes)) {
          bytes += more
          if (bytes > INFERENCE_BODY_BYTES_MAX) break
          // Nothing was sent yet, so no socket reports that the caller has disconnected.
          if (sending.signal.aborted) return { ok: false, failure: endedBy(sending.signal) }
        }
      if (bytes > INFERENCE_BODY_BYTES_MAX)
        return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX }, detail: WITH_FILES })
    }
    return ok(new FileBody(pieces, bytes, reading))
  } catch (cause) {
    if (reading.failure === null) throw cause
    return { ok: false, failure: reading.failure }
  }
}

/**
 * Work on parts of files: one part in each turn of the loop, and organizations take turns. A call that names large
 * files is itself small, so nothing else would keep it from using the whole loop.
 */
const turns = new FairSemaphore({ places: 1 })

/** Reads files one after another. */
class FileReading {
  /** Why the last file could not be read; null when all could. */
  failure: Failure | null = null
  readonly #sending: Sending
  #reader: ByteReader | null = null
  #isClosed = false

  constructor(sending: Sending) {
    this.#sending = sending
  }

  /**
   * Yields the result of `made` for each part of a file. Throws when the file cannot be read, and sets `failure`.
   * @param made converts a part, which is valid only during the call
   */
  async *partsOf<T>(file: ContentHole['file'], made: (part: Uint8Array) => T): AsyncGenerator<T> {
    const content = this.#taken(await file.open(this.#sending.signal))
    try {
      const reader = this.#taken(await content.read(0, file.sizeBytes))
      this.#reader = reader
      try {
        for (;;) {
          const part = this.#isClosed ? null : this.#taken(await reader.next())
          if (part === null) break
          for (let at = 0; at < part.length; at += TURN_BYTES)
            yield await this.#inTurn(() => made(part.subarray(at, at + TURN_BYTES)))
        }
      } finally {
        this.#reader = null
        reader.close()
      }
    } finally {
      content.close()
    }
  }

  /** Stops reading, also while a part is awaited. */
  close(): void {
    this.#isClosed = true
    this.#reader?.close()
  }

  async #inTurn<T>(work: () => T): Promise<T> {
    const leave = await turns.enter({ tenant: this.#sending.caller.organizationId })
    try {
      return work()
    } finally {
      if (leave !== null) setImmediate(leave)
    }
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

/** @param pieces each is removed from the list when it is written: a generator that has ended keeps its variables */
async function* written(pieces: RequestPiece[], reading: FileReading): AsyncGenerator<Uint8Array> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift())
    yield* piece instanceof Uint8Array ? cut(piece) : contentOf(piece, reading)
}

function* cut(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES)
}

async function* contentOf({ file, form }: ContentHole, reading: FileReading): AsyncGenerator<Uint8Array> {
  if (form === 'text') return yield* reading.partsOf(file, jsonText)
  const base64 = new Base64()
  yield* reading.partsOf(file, (part) => base64.next(part))
  yield base64.rest()
}

/** Encodes bytes that arrive in parts as one base64 text. */
class Base64 {
  #left = Buffer.alloc(0)

  next(part: Uint8Array): Uint8Array {
    const bytes = Buffer.concat([this.#left, part])
    const end = bytes.length - (bytes.length % TRIPLE)
    this.#left = bytes.subarray(end)
    return base64Of(bytes, end)
  }

  rest(): Uint8Array {
    return base64Of(this.#left, this.#left.length)
  }
}

function base64Of(bytes: Buffer, end: number): Uint8Array {
  return Buffer.from(bytes.toString('base64', 0, end), 'latin1')
}

/** Bytes that a part of a UTF-8 text takes within a JSON string. */
export function jsonTextBytes(text: Uint8Array): number {
  return escaped(text).length
}

/** A part of a UTF-8 text, escaped for a JSON string; a character may be split between two parts. */
export function jsonText(text: Uint8Array): Uint8Array {
  return Buffer.from(escaped(text), 'latin1')
}

/**
 * Each byte is treated as a character: JSON escapes only characters below 0x80, and the engine's own writer takes a
 * tenth of the time of a loop in JavaScript.
 */
function escaped({ buffer, byteOffset, length }: Uint8Array): string {
  return JSON.stringify(Buffer.from(buffer, byteOffset, length).toString('latin1')).slice(1, -1)
}
