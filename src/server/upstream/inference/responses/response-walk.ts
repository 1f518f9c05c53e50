import { isUtf8 } from 'node:buffer'
import { STREAM_MENDED_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import { endOfSpace, OPEN_OBJECT, WRONG, type Span } from '../../../../schemas/values/json-bytes.ts'
import { ObjectWalk, ODD, type Members } from '../chat/object-walk.ts'
import type { SpliceSink } from '../chat/splices.ts'
import type { NativeHead } from '../protocol.ts'
import { writtenAnew } from '../written-anew.ts'
import { EventMembers } from './event-members.ts'
import { ResponseMembers } from './response-members.ts'

const NO_BYTES = Buffer.alloc(0)
/** Bytes of `incomplete_details` that are parsed; providers write one short word. */
const DETAILS_BYTES_MAX = 1_024

/**
 * Walks over an event of responses, or over a whole answer, as the provider wrote it: finds what Sluice
 * replaces and adds, and what it counts. All other bytes stay as they came. What the walk does not decide
 * (names with escapes, members that come twice, several lines, bytes that are not UTF-8) is parsed and
 * written anew. D13, D14.
 */
export class ResponseWalk {
  /** What was walked over: the provider's bytes, or those bytes written anew. */
  bytes: Buffer = NO_BYTES
  readonly event: EventMembers
  readonly response: ResponseMembers
  readonly #walk = new ObjectWalk()
  readonly #top: Members
  readonly #mendedMax: number
  #start = 0
  #end = 0

  /** @param form `answer`: the bytes are a response themselves */
  constructor(head: NativeHead, form: 'event' | 'answer') {
    this.response = new ResponseMembers(this.#walk, head)
    this.event = new EventMembers(this.#walk, this.response)
    this.#top = form === 'event' ? this.event : this.response
    this.#mendedMax = form === 'event' ? STREAM_MENDED_BYTES_MAX : Infinity
  }

  /** Decoded at each call. */
  get upstreamId(): string | null {
    return this.#textOf(this.response.id)
  }

  /** Of the response, in the provider's words. */
  get status(): string | null {
    return this.#textOf(this.response.status)
  }

  /** Why a model stopped before its end. */
  get incompleteReason(): string | null {
    const at = this.response.incomplete
    if (at === null || at.end - at.start > DETAILS_BYTES_MAX) return null
    const { reason } = JSON.parse(this.bytes.toString('utf8', at.start, at.end)) as { reason?: unknown }
    return typeof reason === 'string' ? reason : null
  }

  /** The provider's own word of an error. Valid as long as the bytes are. */
  get error(): Buffer | null {
    return this.#partOf(this.response.error)
  }

  /** The figures of the provider; null: the bytes have none. Valid as long as the bytes are. */
  get usage(): Buffer | null {
    return this.#partOf(this.response.usage)
  }

  /**
   * @param isOneLine the bytes have no line end in them
   * @returns false: the bytes are no JSON object, or have values that cannot be passed on
   */
  run(bytes: Buffer, isOneLine: boolean): boolean {
    const end = isOneLine && isUtf8(bytes) ? this.#over(bytes) : ODD
    if (end !== ODD) return end !== WRONG
    if (bytes.length > this.#mendedMax) return false
    const anew = writtenAnew(bytes, () => undefined)
    return anew !== null && this.#over(anew) >= 0
  }

  /**
   * Gives all of it, with what the response lacks.
   * @param status of a response that tells none
   */
  write(out: SpliceSink, status: string): void {
    const { close } = this.response
    if (close === -1) return this.#walk.splices.apply(this.#start, this.#end, out)
    this.#walk.splices.apply(this.#start, close, out)
    out.text(this.response.added(status, true))
    this.#walk.splices.apply(close, this.#end, out)
  }

  /** Gives the parts before and behind the usage of the response. @param status as for `write` */
  around(before: SpliceSink, behind: SpliceSink, status: string): void {
    const { splices } = this.#walk
    const { close, usage } = this.response
    const added = this.response.added(status, false)
    if (usage === null) {
      splices.apply(this.#start, close, before)
      before.text(`${added === '' ? ',' : `${added},`}"usage":`)
    } else {
      splices.apply(this.#start, usage.start, before)
      splices.apply(usage.end, close, behind)
      behind.text(added)
    }
    splices.apply(close, this.#end, behind)
  }

  /** Lets go of the bytes. What was counted stays. */
  release(): void {
    this.bytes = NO_BYTES
    this.#walk.begin(NO_BYTES)
  }

  #over(bytes: Buffer): number {
    this.bytes = bytes
    this.#walk.begin(bytes)
    this.#start = endOfSpace(bytes, 0)
    if (bytes[this.#start] !== OPEN_OBJECT) return ODD
    this.#end = this.#walk.object(this.#top, this.#start, 0, 1)
    if (this.#end < 0) return this.#end
    return endOfSpace(bytes, this.#end) === bytes.length ? this.#end : WRONG
  }

  #partOf(at: Span | null): Buffer | null {
    return at === null ? null : this.bytes.subarray(at.start, at.end)
  }

  #textOf(at: Span | null): string | null {
    return at === null ? null : (JSON.parse(this.bytes.toString('utf8', at.start, at.end)) as string)
  }
}
