import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type _Object,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { fail, ok, type FailureName, type Outcome } from '../../schemas/failures.ts'
import { STORAGE_PIECE_BYTES } from '../../schemas/files/file-limits.ts'
import type { ObjectFacts, Staging, StoredObject } from '../ports/files/storage.ts'
import { errorOf } from './disk-failure.ts'
import { nameOf, type Progress, type S3Calls } from './s3-client.ts'
import { s3Reader } from './s3-reader.ts'

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
    // The client has no listener: without this one, a disk that cannot be read would end the process.
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
  /** Failure for a missing key. */
  readonly missing: FailureName
  /** Failure when the key has another object than the opened one: damage when objects are never replaced. */
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
      s3Reader(calls, { key, etag: answer.value.ETag, replaced: names.replaced, from, to }, options ?? {}),
    // A read of another object fails.
    isUnchanged: () => Promise.resolve(ok(true)),
    close: () => Promise.resolve(),
  })
}

export async function statKey(calls: S3Calls, key: string): Promise<Outcome<ObjectFacts | null>> {
  const answer = await head(calls, key)
  if (answer.ok) return ok(factsOf(answer.value))
  return answer.failure.name === 'content_missing' ? ok(null) : answer
}

/** @returns false when there was no object, which S3 itself does not tell */
export async function removeKey(calls: S3Calls, key: string): Promise<Outcome<boolean>> {
  const there = await statKey(calls, key)
  if (!there.ok) return there
  if (there.value === null) return ok(false)
  const removed = await deleteKey(calls, key)
  return removed.ok ? ok(true) : removed
}

/** Succeeds whether the key exists or not. */
function deleteKey(calls: S3Calls, key: string): Promise<Outcome<unknown>> {
  const command = new DeleteObjectCommand({ Bucket: calls.bucket, Key: key })
  return calls.run((ending) => calls.client.send(command, { abortSignal: ending }))
}

/** @returns false when the key has another object than the one with this ETag by now, or none */
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

/**
 * One page of keys below a prefix, in the order of their UTF-8 bytes.
 * @param after a name below the prefix, or empty
 */
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

/** The answer to a HEAD has no body with more than the 404. */
const MISSING = { NotFound: 'content_missing', NoSuchKey: 'content_missing' } as const
/** Errors of a conditional removal. */
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

/** Every piece that the socket takes is progress. */
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
