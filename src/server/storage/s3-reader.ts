import { GetObjectCommand } from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
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
  let isClosed = false

  const drop = (): void => {
    body?.destroy()
    body = null
    chunks = null
  }
  const openBody = async (): Promise<Outcome<AsyncIterator<unknown>>> => {
    if (chunks !== null) return ok(chunks)
    const opened = await calls.run((ending) => getRange(calls, { ...target, from: at }, ending), signal, {
      NoSuchKey: 'content_missing', NotFound: 'content_missing', PreconditionFailed: 'content_damaged', WrongRange: 'storage_unavailable',
    })
    if (!opened.ok) return opened
    body = opened.value
    // Without a listener an error that comes while nobody reads would end the process.
    body.on('error', () => undefined)
    chunks = body[Symbol.asyncIterator]()
    return ok(chunks)
  }
  const nextChunk = async (): Promise<Outcome<Uint8Array>> => {
    for (let breaks = 1; ; breaks++) {
      if (isClosed || signal?.aborted === true) return fail('client_gone')
      const opened = await openBody()
      if (!opened.ok) return opened
      const chunk = await withinStall(opened.value, calls.stallMs, () => body?.destroy(new Error('the body stalls')))
      if (chunk !== null) return ok(chunk)
      drop()
      if (breaks === BREAKS_MAX) return fail('storage_unavailable', { retryAfterS: 1, cause: new Error('the body breaks off again and again') })
      await calls.pause(breaks, signal)
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
      if (at === target.to) drop()
      return ok(piece)
    },
    close() {
      isClosed = true
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
