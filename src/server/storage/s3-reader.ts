import { GetObjectCommand } from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { CallEnded, endedBy } from '../../schemas/call-ended.ts'
import { fail, ok, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/limits.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { ReadOptions } from '../ports/storage.ts'
import type { S3Calls } from './s3-client.ts'

/** Times in a row that a body may break off without a byte in between. Decision. */
const BREAKS_MAX = 3

interface Target {
  readonly key: string
  /** The ETag that must still hold: a replaced object is never spliced onto its predecessor. */
  readonly etag: string | undefined
  /** What it is called when that does not hold any more. */
  readonly replaced: FailureName
  readonly from: number
  readonly to: number
}

/**
 * Reads a range over the network. Nothing is asked of the socket but when the caller asks; a body that breaks off goes
 * on with a new request for the rest.
 */
export function s3Reader(calls: S3Calls, target: Target, { signal }: ReadOptions): ByteReader {
  let at = target.from
  let body: Readable | null = null
  let chunks: AsyncIterator<unknown> | null = null
  let left: Uint8Array | null = null
  // Without this a request under way when the reader is closed would open a body that nobody reads.
  const closing = new AbortController()
  const onAbort = (): void => closing.abort(signal?.reason)
  if (signal?.aborted === true) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })

  const drop = (): void => {
    body?.destroy()
    body = null
    chunks = null
  }
  /** Everything is given out: only a body that was read to its end gives its connection back. Nobody waits for that. */
  const leave = (): void => {
    const [ending, rest] = [body, chunks]
    body = null
    chunks = null
    if (ending === null || rest === null) return
    const cut = (): void => void ending.destroy()
    void withinStall(rest, calls.stallMs, cut).then(cut)
  }
  const openBody = async (): Promise<Outcome<AsyncIterator<unknown>>> => {
    if (chunks !== null) return ok(chunks)
    const opened = await calls.run((ending) => getRange(calls, { ...target, from: at }, ending), closing.signal, {
      NoSuchKey: 'content_missing', NotFound: 'content_missing', PreconditionFailed: target.replaced, WrongRange: 'storage_unavailable',
    })
    if (!opened.ok) return opened.failure.name === 'storage_unavailable' ? { ok: false, failure: { retryAfterS: 1, ...opened.failure } } : opened
    body = opened.value
    // Without a listener an error that comes while nobody reads would end the process.
    body.on('error', () => undefined)
    if (closing.signal.aborted) {
      drop()
      return { ok: false, failure: endedBy(closing.signal) }
    }
    chunks = body[Symbol.asyncIterator]()
    return ok(chunks)
  }
  const nextChunk = async (): Promise<Outcome<Uint8Array>> => {
    for (let breaks = 1; ; breaks++) {
      if (closing.signal.aborted) return { ok: false, failure: endedBy(closing.signal) }
      const opened = await openBody()
      if (!opened.ok) return opened
      const chunk = await withinStall(opened.value, calls.stallMs, () => body?.destroy(new Error('the body stalls')))
      if (chunk !== null) return ok(chunk)
      drop()
      if (breaks === BREAKS_MAX) return fail('storage_unavailable', { retryAfterS: 1, cause: new Error('the body breaks off again and again') })
      await calls.pause(breaks, closing.signal)
    }
  }
  return {
    async next() {
      const wanted = Math.min(STORAGE_PIECE_BYTES, target.to - at)
      if (wanted <= 0) return ok(null)
      const piece = new Uint8Array(wanted)
      for (let filled = 0; filled < wanted; ) {
        if (left === null) {
          const chunk = await nextChunk()
          if (!chunk.ok) return chunk
          left = chunk.value
        }
        const taken = left.subarray(0, wanted - filled)
        piece.set(taken, filled)
        filled += taken.length
        at += taken.length
        left = taken.length === left.length ? null : left.subarray(taken.length)
      }
      if (at === target.to) leave()
      return ok(piece)
    },
    close() {
      signal?.removeEventListener('abort', onAbort)
      closing.abort(new CallEnded('client_gone'))
      drop()
    },
  }
}

class WrongRange extends Error {
  override readonly name = 'WrongRange'
}

async function getRange(calls: S3Calls, { key, etag, from, to }: Target, signal: AbortSignal): Promise<Readable> {
  const answer = await calls.client.send(new GetObjectCommand({
    Bucket: calls.bucket, Key: key, Range: `bytes=${from}-${to - 1}`, ...(etag === undefined ? {} : { IfMatch: etag }),
  }), { abortSignal: signal })
  const { Body: body, ContentLength: length } = answer
  if (!(body instanceof Readable)) throw new WrongRange('the answer has no body')
  if (length !== to - from || !(answer.ContentRange ?? '').startsWith(`bytes ${from}-`)) {
    body.destroy()
    // A server that ignores ranges would have other bytes pass for those that were asked for.
    throw new WrongRange(`asked for ${from} to ${to}, got ${answer.ContentRange ?? 'everything'}`)
  }
  return body
}

/** @returns null when the body ended or broke off */
async function withinStall(chunks: AsyncIterator<unknown>, stallMs: number, onStall: () => void): Promise<Uint8Array | null> {
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
