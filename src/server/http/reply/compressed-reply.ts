import { callerOf } from '../../../schemas/values/callers.ts'
import { takesCoding } from '../../../schemas/lists/negotiation.ts'
import type { AnyOperation, Call } from '../../operations/define.ts'
import { isPulled, lengthOf, partsOf, unreadBytesOf, type Reply } from './reply-body.ts'
import type { RequestHead } from '../call/head.ts'
import type { PipelineDeps } from '../call/pipeline-deps.ts'
import { KIB, MIB } from '../../../schemas/limits/limits.ts'

/** Bytes of a list's answer from which the answer is compressed for clients that accept gzip. Decision. */
export const COMPRESSED_BYTES_MIN = 64 * KIB
/**
 * Bytes of a list's answer above which the answer is not compressed: copying it would hold up the loop.
 * Decision.
 */
export const COMPRESSED_BYTES_MAX = 4 * MIB
/** Milliseconds that a list's answer waits for a thread that compresses it; after that the answer is sent uncompressed. Decision. */
export const COMPRESS_WAIT_MS_MAX = 250

/** The part of a call that the compression of its answer uses. */
export interface CompressibleCall extends Pick<Call, 'key' | 'signal'> {
  readonly deps: Pick<PipelineDeps, 'host' | 'jobs'>
  readonly head: Pick<RequestHead, 'kept'>
  /** False: the caller's organization has too many unread answers and must read them first. */
  readonly hasRoomToRead: boolean
}

/** Headers of every answer to a list, compressed or not, so that a cache distinguishes the two forms. */
export const VARIES = ['vary', 'accept-encoding'] as const

/**
 * The answer of a large list, compressed on a thread; null when the answer is sent uncompressed. Applies only
 * to lists declared by their operation: names, sizes and prices. If an answer contained a secret and text
 * chosen by an attacker, its compressed length would reveal the secret to an attacker who observes it
 * (BREACH).
 *
 * When no thread is free, or the organization's places are taken, the answer is sent uncompressed.
 */
export function compressedReply(
  call: CompressibleCall,
  { success }: AnyOperation,
  reply: Reply,
): Promise<Reply> | null {
  const { body } = reply
  if (
    success.isList !== true ||
    body === null ||
    isPulled(body) ||
    !takesCoding(call.head.kept('accept-encoding'), 'gzip')
  )
    return null
  const bytes = lengthOf(body)
  if (bytes < COMPRESSED_BYTES_MIN || bytes > COMPRESSED_BYTES_MAX || !call.hasRoomToRead) return null
  return compressed(call, reply, body)
}

async function compressed(
  call: CompressibleCall,
  reply: Reply,
  body: Parameters<typeof partsOf>[0],
): Promise<Reply> {
  const {
    deps: { host, jobs },
    key,
    signal,
  } = call
  // Until the thread has compressed it, the answer counts as unread.
  const giveBack = host.unread.hold(key.organizationId, unreadBytesOf(reply))
  try {
    // A copy: parts may belong to the catalogue, and transferred bytes would be lost here.
    const whole = new Uint8Array(Buffer.concat(partsOf(body)))
    const endsAt = performance.now() + COMPRESS_WAIT_MS_MAX
    const packed = await jobs.run(
      'compress',
      { bytes: whole },
      { caller: callerOf(key), signal, endsAt, transfer: [whole.buffer] },
    )
    return packed.ok
      ? {
          ...reply,
          headers: [...reply.headers, 'content-encoding', 'gzip'],
          body: packed.value,
          isShared: false,
        }
      : reply
  } finally {
    giveBack()
  }
}
