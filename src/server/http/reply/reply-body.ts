import { owned } from '../../../schemas/values/lent-bytes.ts'
import { UNREAD_PIECE_BYTES } from '../../../schemas/limits/share-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { PulledBody } from './pull-writer.ts'

/** A reply ready to be written; `reply.ts` creates it. */
export interface Reply {
  readonly status: number
  /** With its reason phrase: `200 OK`. */
  readonly statusLine: string
  /** Name, value, name, value, …; values contain no line breaks. */
  readonly headers: readonly string[]
  /** Null: the status has no body. The body of a 304 only gives the length. */
  readonly body: string | Uint8Array | readonly Uint8Array[] | PulledBody | null
  /**
   * Replaces `body`: another server sends the body now, perhaps while the request's body is still on its way
   * to that server.
   */
  readonly relayed?: RelayedBody | undefined
  /** The parts are cached anyway: they take no memory for this answer alone. */
  readonly isShared?: boolean | undefined
  /** Called exactly once, when the last byte was passed to the library or the reply was dropped. */
  readonly done?: (() => void) | undefined
}

export interface RelayedBody {
  /** At least 1; null when the length is unknown. */
  readonly bytes: number | null
  readonly reader: ByteReader
}

/** Bytes of a body in parts that are joined before they are written. Decision. */
const JOINED_BYTES_MAX = 64 * 1024
/**
 * The buffer in which parts are joined: each part by itself would be a system call, and a new buffer each
 * time costs 4 µs at 30 KB.
 */
export const DESK = new Uint8Array(JOINED_BYTES_MAX)

function isParts(body: Reply['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

export function isPulled(body: Reply['body']): body is PulledBody {
  return body !== null && typeof body === 'object' && 'next' in body
}

/**
 * The bytes of the first write: the whole body, or the first piece; undefined for parts that are written one
 * by one.
 */
export function beginOf(body: Reply['body']): string | Uint8Array | undefined {
  if (isPulled(body)) return body.first
  return isParts(body) ? joined(body) : (body ?? '')
}

/**
 * Undefined when too large for the buffer. Valid until the next reply; the library copies the bytes that it
 * keeps.
 */
function joined(parts: readonly Uint8Array[]): Uint8Array | undefined {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const bytes = lengthOf(parts)
  if (bytes > DESK.length) return undefined
  let at = 0
  for (const part of parts) {
    DESK.set(part, at)
    at += part.length
  }
  return DESK.subarray(0, bytes)
}

export function partsOf(body: Exclude<Reply['body'], PulledBody>): readonly Uint8Array[] {
  if (body === null) return []
  return isParts(body) ? body : [typeof body === 'string' ? Buffer.from(body) : body]
}

/** The reply for a later turn of the loop: its bytes may be lent. */
export function ownedReply(reply: Reply): Reply {
  return isParts(reply.body) ? { ...reply, body: reply.body.map(owned) } : reply
}

export function lengthOf(body: Exclude<Reply['body'], null>): number {
  if (isPulled(body)) return body.bytes
  if (typeof body === 'string') return Buffer.byteLength(body)
  return isParts(body) ? body.reduce((sum, part) => sum + part.length, 0) : body.length
}

/** Bytes of memory that an answer takes while its client does not read. */
export function unreadBytesOf({ body, isShared }: Reply): number {
  if (body === null || isShared === true) return 0
  return isPulled(body) ? Math.min(body.bytes, UNREAD_PIECE_BYTES) : lengthOf(body)
}

export function isEmpty(body: Reply['body']): boolean {
  return body === null || (isPulled(body) ? body.bytes : body.length) === 0
}
