import type { Failure } from '../schemas/failures.ts'
import { endOfSpace, OPEN_LIST, OPEN_OBJECT } from '../schemas/values/json-bytes.ts'
import type { Members } from '../schemas/values/members.ts'

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const LESS_THAN = 0x3c

/** The form of a provider's body: JSON of a whole answer, events of a stream, or a page for browsers. */
export type Frame = 'answer' | 'events' | 'page'

/** An event of a stream before it is written. */
export interface MadeEvent {
  /** Of its `event:` line; absent: it has none. */
  readonly name?: string
  readonly data: Members
}

/** The answer that the events of a stream say. */
export interface GatheredAnswer {
  /** Nothing behind the last event counts. */
  readonly isDone: boolean
  /** @param name of its `event:` line; the empty string without one. @returns as `PartEvents.take` */
  take(event: Members, name: string): Failure | 'failed' | null
  /** Null: the stream has not come to its end. */
  answer(): Members | null
}

/**
 * By the first bytes, since providers and the proxies before them label bodies wrongly. D14, D22.
 * @returns null: nothing but space so far
 */
export function frameOf(body: Uint8Array): Frame | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const isMarked = bytes.length > 0 && bytes.subarray(0, BOM.length).equals(BOM.subarray(0, bytes.length))
  if (isMarked && bytes.length < BOM.length) return null
  switch (bytes[endOfSpace(bytes, isMarked ? BOM.length : 0)]) {
    case undefined:
      return null
    case OPEN_OBJECT:
    case OPEN_LIST:
      return 'answer'
    case LESS_THAN:
      return 'page'
    default:
      return 'events'
  }
}

/** JSON without a byte order mark, which no parser takes. */
export function withoutMark(json: Buffer): Buffer {
  return json.subarray(0, BOM.length).equals(BOM) ? json.subarray(BOM.length) : json
}

/** The text in memory of its own, which can be moved to another thread. */
export function encoded(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
