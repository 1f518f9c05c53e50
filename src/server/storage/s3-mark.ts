import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import type { PlaceMark } from '../ports/installation.ts'
import { MARK_NAME } from './disk-mark.ts'
import { nameOf, S3Calls, type S3Options } from './s3-client.ts'

/** Milliseconds that a start waits for a bucket to read or write the mark. Decision. */
const MARK_MS_MAX = 3_000

/** The mark of the installation below the prefix of its bucket. */
export function s3Mark(options: Omit<S3Options, 'stagingFolder'>): PlaceMark {
  const run = async <T>(call: (calls: S3Calls, signal: AbortSignal) => Promise<T>): Promise<T> => {
    const calls = new S3Calls({ ...options, stagingFolder: '' })
    try {
      const done = await calls.run((signal) => call(calls, signal), AbortSignal.timeout(MARK_MS_MAX))
      if (done.ok) return done.value
      throw new Error(done.failure.name, { cause: done.failure.cause })
    } finally {
      calls.client.destroy()
    }
  }
  const placeIn = (calls: S3Calls) => ({ Bucket: calls.bucket, Key: calls.prefix + MARK_NAME })
  return {
    read: () =>
      run(async (calls, abortSignal) => {
        try {
          const found = await calls.client.send(new GetObjectCommand(placeIn(calls)), { abortSignal })
          return (await found.Body?.transformToString()) ?? null
        } catch (cause) {
          if (nameOf(cause) === 'NoSuchKey') return null
          throw cause
        }
      }),
    async write(mark) {
      await run((calls, abortSignal) =>
        calls.client.send(
          new PutObjectCommand({ ...placeIn(calls), Body: mark, ContentType: 'text/plain' }),
          {
            abortSignal,
          },
        ),
      )
    },
  }
}
