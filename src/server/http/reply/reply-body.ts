import { owned } from '../../../schemas/values/lent-bytes.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { PulledBody } from './pull-writer.ts'
import { KIB } from '../../../schemas/limits/limits.ts'

/** Bytes that count as unread for one piece of a download. Decision. */
export const UNREAD_PIECE_BYTES = 256 * KIB

/** Texts are short. */
export type BodyPart = Uint8Array | string

/** A reply ready to be written; `reply.ts` creates it. */
export interface Reply {
  readonly status: number
  /** With its reason phrase: `200 OK`. */
  readonly statusLine: string
  /** Name, value, name, value, …; values contain no line breaks. */
  readonly headers: readonly string[]
  /** Null: the status has no body. The body of a 304 only gives the length. */
  readonly body: string | Uint8Array | readonly BodyPart[] | PulledBody | null
  /** Replaces `body`: another server sends the body, perhaps while it still receives the request's body. */
  readonly relayed?: RelayedBody | undefined
  /** True when the parts are cached anyway, so that they take no memory for this answer. */
  readonly isShared?: boolean | undefined
  /** Called exactly once, when the last byte was passed to the library or the reply was dropped. */
  readonly done?: (() => void) | undefined
}

export interface RelayedBody {
  /** At least 1; null when the length is unknown. */
  readonly bytes: number | null
  readonly reader: ByteReader
}

const ASCII_MAX = 0x7f

/**
 * Memory in which pieces are joined and used in the same step: its content is not valid later. Views of its
 * beginning are cached by their length, since each new view costs a hundred bytes of garbage.
 */
export class Desk {
  readonly bytes: Buffer
  /** By their length. */
  readonly #views: (Uint8Array | undefined)[]

  /** @param viewsMax bytes of the longest view that is cached */
  constructor(bytes: number, viewsMax: number) {
    this.bytes = Buffer.alloc(bytes)
    this.#views = new Array<undefined>(viewsMax + 1).fill(undefined)
  }

  view(length: number): Uint8Array {
    return this.#views[length] ?? this.#newView(length)
  }

  /** @returns the position after the text; -1 when it is not ASCII, has no room, or `at` is -1 */
  ascii(text: string, at: number): number {
    const { bytes } = this
    const end = at + text.length
    if (at < 0 || end > bytes.length) return -1
    for (let nth = 0; nth < text.length; nth++) {
      const code = text.charCodeAt(nth)
      if (code > ASCII_MAX) return -1
      bytes[at + nth] = code
    }
    return end
  }

  #newView(length: number): Uint8Array {
    const view = new Uint8Array(this.bytes.buffer, this.bytes.byteOffset, length)
    if (length < this.#views.length) this.#views[length] = view
    return view
  }
}

/** Bytes of a body in parts that are joined before they are written. Decision. */
const JOINED_BYTES_MAX = 64 * 1024
/** Bytes of joined parts up to which their view is cached. */
const KEPT_VIEW_BYTES = 4 * 1_024
/** The buffer in which parts are joined: each part would otherwise cost a system call, and a new buffer costs 4 µs at 30 KB. */
const JOINED = new Desk(JOINED_BYTES_MAX, KEPT_VIEW_BYTES)
export const DESK = JOINED.bytes

function isParts(body: Reply['body']): body is readonly BodyPart[] {
  return Array.isArray(body)
}

export function isPulled(body: Reply['body']): body is PulledBody {
  return body !== null && typeof body === 'object' && 'next' in body
}

/** The bytes of the first write: the whole body, or its first piece; undefined for parts that are written separately. */
export function beginOf(body: Reply['body']): string | Uint8Array | undefined {
  if (isPulled(body)) return body.first
  return isParts(body) ? joined(body) : (body ?? '')
}

/** Undefined when too large for the buffer. Valid until the next reply; the library copies the bytes that it keeps. */
function joined(parts: readonly BodyPart[]): BodyPart | undefined {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const bytes = lengthOf(parts)
  if (bytes > DESK.length) return undefined
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') at += DESK.write(part, at)
    else {
      DESK.set(part, at)
      at += part.length
    }
  }
  return JOINED.view(bytes)
}

export function partsOf(body: Exclude<Reply['body'], PulledBody>): readonly Uint8Array[] {
  if (body === null) return []
  return isParts(body) ? body.map(encoded) : [encoded(body)]
}

function encoded(part: BodyPart): Uint8Array {
  return typeof part === 'string' ? Buffer.from(part) : part
}

/** A copy of the reply for a later turn of the loop, since its bytes may be lent. */
export function ownedReply(reply: Reply): Reply {
  return isParts(reply.body) ? { ...reply, body: reply.body.map(ownedPart) } : reply
}

function ownedPart(part: BodyPart): BodyPart {
  return typeof part === 'string' ? part : owned(part)
}

export function lengthOf(body: Exclude<Reply['body'], null>): number {
  if (isPulled(body)) return body.bytes
  if (typeof body === 'string') return Buffer.byteLength(body)
  return isParts(body) ? bytesOf(body) : body.length
}

function bytesOf(parts: readonly BodyPart[]): number {
  let bytes = 0
  for (const part of parts) bytes += typeof part === 'string' ? Buffer.byteLength(part) : part.length
  return bytes
}

/** Bytes of memory that an answer occupies while its client does not read it. */
export function unreadBytesOf({ body, isShared }: Reply): number {
  if (body === null || isShared === true) return 0
  return isPulled(body) ? Math.min(body.bytes, UNREAD_PIECE_BYTES) : lengthOf(body)
}

export function isEmpty(body: Reply['body']): boolean {
  return body === null || (isPulled(body) ? body.bytes : body.length) === 0
}
