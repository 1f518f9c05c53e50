import { UNREAD_PIECE_BYTES } from '../../../schemas/limits/share-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { PulledBody } from './pull-writer.ts'

/** A reply ready to be written; `reply.ts` makes them. */
export interface Reply {
  readonly status: number
  /** With its reason phrase: `200 OK`. */
  readonly statusLine: string
  /** Name, value, name, value, …; values hold no line breaks. */
  readonly headers: readonly string[]
  /** Null: the status has no body. That of a 304 only tells its length. */
  readonly body: string | Uint8Array | readonly Uint8Array[] | PulledBody | null
  /**
   * Instead of a body: one that somebody else is sending now, while the request's may still be on its way to
   * him.
   */
  readonly relayed?: RelayedBody | undefined
  /** Its parts are kept anyway, for whoever asks: they take no memory of this answer's own. */
  readonly isShared?: boolean | undefined
  /** Called exactly once, when the last byte was handed over or the reply was dropped. */
  readonly done?: (() => void) | undefined
}

export interface RelayedBody {
  /** More than none; null when nobody knows. */
  readonly bytes: number | null
  readonly reader: ByteReader
}

/** Bytes of a body in parts that are joined before they are written. Decision. */
const JOINED_BYTES_MAX = 64 * 1024
/**
 * Where they are joined: each part alone would be a system call, and a new buffer each time costs 4 µs at 30
 * KB.
 */
export const DESK = new Uint8Array(JOINED_BYTES_MAX)

function isParts(body: Reply['body']): body is readonly Uint8Array[] {
  return Array.isArray(body)
}

export function isPulled(body: Reply['body']): body is PulledBody {
  return body !== null && typeof body === 'object' && 'next' in body
}

/**
 * What is handed over in the first write: all of it, or the first piece; undefined for parts that are written
 * singly.
 */
export function beginOf(body: Reply['body']): string | Uint8Array | undefined {
  if (isPulled(body)) return body.first
  return isParts(body) ? joined(body) : (body ?? '')
}

/** Undefined when too large for the desk. Valid until the next reply; the library copies what it keeps. */
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

export function lengthOf(body: Exclude<Reply['body'], null>): number {
  if (isPulled(body)) return body.bytes
  if (typeof body === 'string') return Buffer.byteLength(body)
  return isParts(body) ? body.reduce((sum, part) => sum + part.length, 0) : body.length
}

/** Memory that an answer takes while its client does not read. */
export function unreadBytesOf({ body, isShared }: Reply): number {
  if (body === null || isShared === true) return 0
  return isPulled(body) ? Math.min(body.bytes, UNREAD_PIECE_BYTES) : lengthOf(body)
}

export function isEmpty(body: Reply['body']): boolean {
  return body === null || (isPulled(body) ? body.bytes : body.length) === 0
}
