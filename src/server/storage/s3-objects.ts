import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  type _Object,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { fail, type Failure, type FailureName, ok, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import { CallEnded, endedBy } from '../../schemas/values/call-ended.ts'
import type { ObjectFacts, ReadOptions, Staging, StoredObject } from '../ports/files/storage.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import { errorOf } from './disk-failure.ts'
import { nameOf, type Progress, type S3Calls } from './s3-client.ts'

/** Metadata by which an attempt recognizes the object of an earlier attempt whose answer was lost. */
const PUT_MARK = 'sluice-put'

export interface ListedKey {
  /** Without the prefix of the listing. */
  readonly name: string
  readonly facts: ObjectFacts
  readonly etag: string | undefined
}

/**
 * Sends one `PutObject` of known length, read from the staging file again for every attempt: there are no
 * parts that could be orphaned.
 */
export async function putFile(
  calls: S3Calls,
  put: { readonly key: string; readonly staging: Staging; readonly mayReplace: boolean },
  signal?: AbortSignal,
): Promise<Outcome<null>> {
  const mark = randomUUID()
  const sent = await calls.run(async (ending, progress) => {
    const { size } = await stat(put.staging.path)
    const body = createReadStream(put.staging.path, { highWaterMark: STORAGE_PIECE_BYTES })
    const unread = new AbortController()
    // The client adds no listener: without this one, a disk that cannot be read would end the process.
    body.on('error', (cause) => unread.abort(cause))
    try {
      await calls.client.send(
        new PutObjectCommand({
          Bucket: calls.bucket,
          Key: put.key,
          Body: watched(body, progress),
          ContentLength: size,
          ContentType: 'application/octet-stream',
          Metadata: { [PUT_MARK]: mark },
          ...(put.mayReplace ? {} : { IfNoneMatch: '*' }),
        }),
        { abortSignal: AbortSignal.any([ending, unread.signal]) },
      )
    } catch (cause) {
      if (unread.signal.aborted) throw errorOf(unread.signal.reason)
      if (nameOf(cause) !== 'PreconditionFailed' || !(await isOurs(calls, put.key, { mark, ending })))
        throw cause
    } finally {
      body.destroy()
    }
  }, signal)
  if (sent.ok) await put.staging.discard()
  return sent.ok ? ok(null) : sent
}

export async function head(
  calls: S3Calls,
  key: string,
  signal?: AbortSignal,
): Promise<Outcome<HeadObjectCommandOutput>> {
  const command = new HeadObjectCommand({ Bucket: calls.bucket, Key: key })
  return calls.run((ending) => calls.client.send(command, { abortSignal: ending }), signal, MISSING)
}

export function factsOf(
  answer: Pick<HeadObjectCommandOutput, 'ContentLength' | 'LastModified' | 'ETag'> & Pick<_Object, 'Size'>,
): ObjectFacts {
  return {
    sizeBytes: answer.ContentLength ?? answer.Size ?? 0,
    changedAt: answer.LastModified ?? new Date(0),
    version: (answer.ETag ?? '').replace(/[^A-Za-z0-9-]/g, ''),
  }
}

export interface KeyNames {
  readonly missing: FailureName
  /** Failure when the key now has another object than the opened one; it means damage where objects are never replaced. */
  readonly replaced: FailureName
}

export async function openKey(
  calls: S3Calls,
  key: string,
  { signal, names }: { readonly signal: AbortSignal | undefined; readonly names: KeyNames },
): Promise<Outcome<StoredObject>> {
  const answer = await head(calls, key, signal)
  if (!answer.ok) return answer.failure.name === 'content_missing' ? fail(names.missing) : answer
  return ok({
    ...factsOf(answer.value),
    descriptor: null,
    read: (from, to, options) =>
      new RangeReader(
        calls,
        { key, etag: answer.value.ETag, replaced: names.replaced, from, to },
        options ?? {},
      ),
    // No check is needed: reading another object fails by its ETag.
    isUnchanged: () => Promise.resolve(ok(true)),
    close: () => Promise.resolve(),
  })
}

export async function statKey(calls: S3Calls, key: string): Promise<Outcome<ObjectFacts | null>> {
  const answer = await head(calls, key)
  if (answer.ok) return ok(factsOf(answer.value))
  return answer.failure.name === 'content_missing' ? ok(null) : answer
}

/** @returns false when there was no object; S3 itself does not report this */
export async function removeKey(calls: S3Calls, key: string): Promise<Outcome<boolean>> {
  const there = await statKey(calls, key)
  if (!there.ok) return there
  if (there.value === null) return ok(false)
  const removed = await deleteKey(calls, key)
  return removed.ok ? ok(true) : removed
}

/** Succeeds even if the key does not exist. */
function deleteKey(calls: S3Calls, key: string): Promise<Outcome<unknown>> {
  const command = new DeleteObjectCommand({ Bucket: calls.bucket, Key: key })
  return calls.run((ending) => calls.client.send(command, { abortSignal: ending }))
}

/** @returns false when the key no longer has the object with this ETag */
export async function deleteListed(
  calls: S3Calls,
  key: string,
  etag: string | undefined,
): Promise<Outcome<boolean>> {
  if (etag === undefined) return fail('storage_unavailable', { cause: new Error('the listing has no ETag') })
  const command = new DeleteObjectCommand({ Bucket: calls.bucket, Key: key, IfMatch: etag })
  const removed = await calls.run(
    (ending) => calls.client.send(command, { abortSignal: ending }),
    undefined,
    STAYS,
  )
  if (removed.ok) return ok(true)
  return removed.failure.name === 'content_missing' ? ok(false) : removed
}

/** One page of keys below a prefix, in the order of their UTF-8 bytes. @param after a name below the prefix, or empty */
export async function listKeys(
  calls: S3Calls,
  prefix: string,
  { after, countMax }: { readonly after: string; readonly countMax: number },
): Promise<Outcome<{ readonly keys: readonly ListedKey[]; readonly hasMore: boolean }>> {
  const answer = await calls.run((ending) =>
    calls.client.send(
      new ListObjectsV2Command({
        Bucket: calls.bucket,
        Prefix: prefix,
        MaxKeys: countMax,
        EncodingType: 'url',
        ...(after === '' ? {} : { StartAfter: prefix + after }),
      }),
      { abortSignal: ending },
    ),
  )
  if (!answer.ok) return answer
  const isEncoded = answer.value.EncodingType === 'url'
  const keys = (answer.value.Contents ?? []).flatMap((found) => {
    const key = isEncoded ? decodeKey(found.Key ?? '') : (found.Key ?? '')
    return key.startsWith(prefix)
      ? [{ name: key.slice(prefix.length), facts: factsOf(found), etag: found.ETag }]
      : []
  })
  return ok({ keys, hasMore: answer.value.IsTruncated === true })
}

/** The answer to a HEAD request has no body, so the error name is derived from the 404. */
const MISSING = { NotFound: 'content_missing', NoSuchKey: 'content_missing' } as const
/** Errors of a conditional removal that mean the listed object no longer exists. */
const STAYS = { ...MISSING, PreconditionFailed: 'content_missing' } as const

async function isOurs(
  calls: S3Calls,
  key: string,
  { mark, ending }: { mark: string; ending: AbortSignal },
): Promise<boolean> {
  const there = await calls.client.send(new HeadObjectCommand({ Bucket: calls.bucket, Key: key }), {
    abortSignal: ending,
  })
  return there.Metadata?.[PUT_MARK] === mark
}

/** Every piece that the socket accepts counts as progress. */
function watched(body: ReturnType<typeof createReadStream>, progress: Progress): typeof body {
  return body.on('data', () => progress()).pause()
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

/** Consecutive interruptions of a body without a byte in between. Decision. */
const BREAKS_MAX = 3

interface Target {
  readonly key: string
  /** The ETag that must still match: bytes of two versions of an object are never mixed. */
  readonly etag: string | undefined
  /** Failure when the ETag no longer matches. */
  readonly replaced: FailureName
  readonly from: number
  readonly to: number
}

interface Body {
  readonly stream: Readable
  readonly chunks: AsyncIterator<unknown>
}

/**
 * Reads a range over the network. Reads the socket only when the caller asks for bytes. After an interruption
 * a new request reads the rest.
 */
class RangeReader implements ByteReader {
  readonly #calls: S3Calls
  readonly #target: Target
  readonly #signal: AbortSignal | undefined
  /** Aborts a request that is in flight when the reader is closed; otherwise it would open a body that is never read. */
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
      ...MISSING,
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

  /** Reads the body to its end in the background, since a connection can be reused only after its body was read completely. */
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
    // Otherwise the bytes of a server that ignores ranges would be mistaken for the requested ones.
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
