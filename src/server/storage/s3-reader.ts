import { GetObjectCommand } from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { CallEnded, endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ReadOptions } from '../ports/files/storage.ts'
import type { S3Calls } from './s3-client.ts'

/** Interruptions of a body in a row, without a byte between them. Decision. */
const BREAKS_MAX = 3

interface Target {
  readonly key: string
  /**
   * The ETag that must still match: bytes of a replaced object are never joined to those of its predecessor.
   */
  readonly etag: string | undefined
  /** Failure when the ETag no longer matches. */
  readonly replaced: FailureName
  readonly from: number
  readonly to: number
}

/**
 * Reads a range over the network. Reads the socket only when the caller asks for bytes. After an interrupted
 * body a new request gets the rest.
 */
export function s3Reader(calls: S3Calls, target: Target, options: ReadOptions): ByteReader {
  return new RangeReader(calls, target, options)
}

interface Body {
  readonly stream: Readable
  readonly chunks: AsyncIterator<unknown>
}

class RangeReader implements ByteReader {
  readonly #calls: S3Calls
  readonly #target: Target
  readonly #signal: AbortSignal | undefined
  /** Without it, a request in flight at the close of the reader would open a body that is never read. */
  readonly #closing = new AbortController()
  #at: number
  #body: Body | null = null
  #left: Uint8Array | null = null

  constructor(calls: S3Calls, target: Target, { signal }: ReadOptions) {
    this.#calls = calls
    this.#target = target
    this.#signal = signal
    this.#at = target.from
    if (signal?.aborted === true) this.#onAbort()
    signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  async next(): Promise<Outcome<Uint8Array | null>> {
    const wanted = Math.min(STORAGE_PIECE_BYTES, this.#target.to - this.#at)
    if (wanted <= 0) return ok(null)
    const piece = new Uint8Array(wanted)
    for (let filled = 0; filled < wanted;) {
      if (this.#left === null) {
        const chunk = await this.#nextChunk()
        if (!chunk.ok) return chunk
        this.#left = chunk.value
      }
      const taken = this.#left.subarray(0, wanted - filled)
      piece.set(taken, filled)
      filled += taken.length
      this.#at += taken.length
      this.#left = taken.length === this.#left.length ? null : this.#left.subarray(taken.length)
    }
    if (this.#at === this.#target.to) this.#leave()
    return ok(piece)
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#closing.abort(new CallEnded('client_gone'))
    this.#drop()
  }

  readonly #onAbort = (): void => this.#closing.abort(this.#signal?.reason)

  async #nextChunk(): Promise<Outcome<Uint8Array>> {
    const { signal } = this.#closing
    for (let breaks = 1; ; breaks++) {
      if (signal.aborted) return { ok: false, failure: endedBy(signal) }
      const opened = await this.#open()
      if (!opened.ok) return opened
      const { stream, chunks } = opened.value
      const chunk = await withinStall(chunks, this.#calls.stallMs, () =>
        stream.destroy(new Error('the body of the object stalled')),
      )
      if (chunk !== null) return ok(chunk)
      this.#drop()
      if (breaks === BREAKS_MAX)
        return fail('storage_unavailable', {
          retryAfterS: 1,
          cause: new Error('the body of the object keeps breaking off'),
        })
      await this.#calls.pause(breaks, signal)
    }
  }

  async #open(): Promise<Outcome<Body>> {
    if (this.#body !== null) return ok(this.#body)
    const rest = { ...this.#target, from: this.#at }
    const { signal } = this.#closing
    const opened = await this.#calls.run((ending) => getRange(this.#calls, rest, ending), signal, {
      NoSuchKey: 'content_missing',
      NotFound: 'content_missing',
      PreconditionFailed: rest.replaced,
      WrongRange: 'storage_unavailable',
    })
    if (!opened.ok) return again(opened.failure)
    const stream = opened.value
    // Without a listener an error while no read is pending would end the process.
    stream.on('error', () => undefined)
    this.#body = { stream, chunks: stream[Symbol.asyncIterator]() }
    if (!signal.aborted) return ok(this.#body)
    this.#drop()
    return { ok: false, failure: endedBy(signal) }
  }

  #drop(): void {
    this.#body?.stream.destroy()
    this.#body = null
  }

  /** Reads the body to its end without waiting, since only a body read to its end returns its connection. */
  #leave(): void {
    const body = this.#body
    this.#body = null
    if (body === null) return
    const cut = (): void => void body.stream.destroy()
    void withinStall(body.chunks, this.#calls.stallMs, cut).then(cut)
  }
}

/** Failures that another attempt may overcome. */
function again(failure: Failure): { readonly ok: false; readonly failure: Failure } {
  return {
    ok: false,
    failure: failure.name === 'storage_unavailable' ? { retryAfterS: 1, ...failure } : failure,
  }
}

class WrongRange extends Error {
  override readonly name = 'WrongRange'
}

async function getRange(
  calls: S3Calls,
  { key, etag, from, to }: Target,
  signal: AbortSignal,
): Promise<Readable> {
  const answer = await calls.client.send(
    new GetObjectCommand({
      Bucket: calls.bucket,
      Key: key,
      Range: `bytes=${from}-${to - 1}`,
      ...(etag === undefined ? {} : { IfMatch: etag }),
    }),
    { abortSignal: signal },
  )
  const { Body: body, ContentLength: length } = answer
  if (!(body instanceof Readable)) throw new WrongRange('the storage returned no body')
  if (length !== to - from || !(answer.ContentRange ?? '').startsWith(`bytes ${from}-`)) {
    body.destroy()
    // The bytes of a server that ignores ranges would pass for the requested ones.
    throw new WrongRange(`requested ${from} to ${to}, got ${answer.ContentRange ?? 'everything'}`)
  }
  return body
}

/** @returns null when the body ended or was interrupted */
async function withinStall(
  chunks: AsyncIterator<unknown>,
  stallMs: number,
  onStall: () => void,
): Promise<Uint8Array | null> {
  const timer = setTimeout(onStall, stallMs)
  try {
    const { done, value } = await chunks.next()
    return done !== true && value instanceof Uint8Array ? value : null
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}
