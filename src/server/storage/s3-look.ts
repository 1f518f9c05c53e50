import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { ok, type Outcome } from '../../schemas/failures.ts'
import { nameOf, S3Calls, type S3Options } from './s3-client.ts'
import { head } from './s3-objects.ts'

/** Milliseconds for all requests of the check together. Decision. */
const BUCKET_MS_MAX = 6_000
/** Time limits for connecting and for the answer to one request. Decision. */
const TIMES = { connectMs: 1_500, stallMs: 3_000 } as const
/** A key next to the objects, so that the same permissions apply to it; a sweep would remove it. */
const PROBE = 'objects/doctor'
/** The ETag of no object: a server that supports conditional writes never writes with it. */
const NO_ETAG = '"00000000000000000000000000000000"'
/** Errors of a server that does not support the condition and would have written. */
const WOULD_WRITE = new Set([
  'NoSuchKey',
  'PreconditionFailed',
  'ConditionalRequestConflict',
  'NotImplemented',
])

/** Unix milliseconds of the server's clock, and of this machine's clock before and after the request. */
export interface ServerDate {
  readonly serverMs: number
  readonly beganMs: number
  readonly endedMs: number
}

export interface BucketSeen {
  /** The first operation that the bucket refused, and its cause. */
  readonly refused: { readonly what: 'list' | 'read' | 'write' | 'delete'; readonly cause: unknown } | null
  /** Milliseconds until the answer to a list. */
  readonly tripMs: number
  /** The server's date, whose resolution is a second; null when the server sends none. */
  readonly date: ServerDate | null
}

export type BucketOptions = Omit<S3Options, 'stagingFolder' | 'connectMs' | 'stallMs' | 'backoffMs'>

/** Checks that the access key may do what storage needs. Leaves the bucket unchanged. */
export async function lookAtBucket(
  options: BucketOptions,
  { signal, now }: { signal: AbortSignal; now: () => number },
): Promise<BucketSeen> {
  const calls = new S3Calls({ ...options, ...TIMES, stagingFolder: '' })
  const dates = new Dates(calls, now)
  const ending = AbortSignal.any([signal, AbortSignal.timeout(BUCKET_MS_MAX)])
  let tripMs = 0
  const seen = (refused: BucketSeen['refused'] = null): BucketSeen => ({
    refused,
    tripMs,
    date: dates.closest,
  })
  try {
    const listed = await list(calls, ending)
    if (!listed.ok) return seen({ what: 'list', cause: listed.failure.cause })
    tripMs = listed.value
    // Reads a missing key: a caller without permission to read is refused before the server reports the key
    // as missing.
    const there = await head(calls, calls.prefix + PROBE, ending)
    if (!there.ok && there.failure.name !== 'content_missing')
      return seen({ what: 'read', cause: there.failure.cause })
    const written = await wouldWrite(calls, ending)
    if (!written.ok) return seen({ what: 'write', cause: written.failure.cause })
    if (!written.value) return seen()
    const removed = await remove(calls, ending)
    return removed.ok ? seen() : seen({ what: 'delete', cause: removed.failure.cause })
  } finally {
    calls.client.destroy()
  }
}

/** @returns milliseconds taken by the attempt that was answered */
function list(calls: S3Calls, signal: AbortSignal): Promise<Outcome<number>> {
  const command = new ListObjectsV2Command({
    Bucket: calls.bucket,
    Prefix: `${calls.prefix}objects/`,
    MaxKeys: 1,
  })
  return calls.run(async (ending) => {
    const startedAt = performance.now()
    await calls.client.send(command, { abortSignal: ending })
    return performance.now() - startedAt
  }, signal)
}

/** @returns true when the server wrote, because it does not support the condition */
function wouldWrite(calls: S3Calls, signal: AbortSignal): Promise<Outcome<boolean>> {
  const command = new PutObjectCommand({
    Bucket: calls.bucket,
    Key: calls.prefix + PROBE,
    Body: '',
    ContentLength: 0,
    IfMatch: NO_ETAG,
  })
  return calls.run(async (ending) => {
    try {
      await calls.client.send(command, { abortSignal: ending })
      return true
    } catch (cause) {
      if (WOULD_WRITE.has(nameOf(cause))) return false
      throw cause
    }
  }, signal)
}

async function remove(calls: S3Calls, signal: AbortSignal): Promise<Outcome<null>> {
  const command = new DeleteObjectCommand({ Bucket: calls.bucket, Key: calls.prefix + PROBE })
  const removed = await calls.run((ending) => calls.client.send(command, { abortSignal: ending }), signal)
  return removed.ok ? ok(null) : removed
}

/** Keeps the server's date of the answer with the shortest round trip, including refusals. */
class Dates {
  closest: ServerDate | null = null

  constructor({ client }: S3Calls, now: () => number) {
    client.middlewareStack.add(
      (next) => async (args) => {
        const beganMs = now()
        const answer = await next(args)
        this.#keep(dateOf(answer.response), beganMs, now())
        return answer
      },
      // The last handler of this step, so that it also receives error responses before they are thrown.
      { step: 'deserialize', priority: 'low', name: 'sluiceDates' },
    )
  }

  #keep(serverMs: number, beganMs: number, endedMs: number): void {
    if (Number.isNaN(serverMs)) return
    const isCloser = this.closest === null || endedMs - beganMs < this.closest.endedMs - this.closest.beganMs
    if (isCloser) this.closest = { serverMs, beganMs, endedMs }
  }
}

/** NaN when the answer has no date. The library has no type for an answer that is not yet parsed. */
function dateOf(response: unknown): number {
  const headers: unknown =
    typeof response === 'object' && response !== null ? Reflect.get(response, 'headers') : null
  return Date.parse(
    typeof headers === 'object' && headers !== null ? String(Reflect.get(headers, 'date')) : '',
  )
}
