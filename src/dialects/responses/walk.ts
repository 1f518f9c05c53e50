import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import type { Members } from '../walk/object-walk.ts'
import type { SpliceSink } from '../walk/splices.ts'
import { WholeWalk } from '../walk/whole-walk.ts'
import { writtenAnew } from '../../server/upstream/inference/walk/written-anew.ts'
import { EventMembers } from '../../server/upstream/inference/responses/event-members.ts'
import { ResponseMembers } from './members.ts'
import type { NativeHead } from '../parts.ts'

/** Bytes of `incomplete_details` that are parsed; providers write one short word. */
const DETAILS_BYTES_MAX = 1_024

/**
 * Walks over an event of responses, or over a whole answer, as the provider wrote it: finds what Sluice
 * replaces and adds, and what it counts. All other bytes stay as they came. D13, D14.
 */
export class ResponseWalk extends WholeWalk {
  readonly event: EventMembers
  readonly response: ResponseMembers
  readonly #top: Members
  readonly #mendedMax: number

  /** @param form `answer`: the bytes are a response themselves */
  constructor(head: NativeHead, form: 'event' | 'answer') {
    super()
    this.response = new ResponseMembers(this.walk, head)
    this.event = new EventMembers(this.walk, this.response)
    this.#top = form === 'event' ? this.event : this.response
    this.#mendedMax = form === 'event' ? STREAM_MENDED_BYTES_MAX : Infinity
  }

  /** Decoded at each call. */
  get upstreamId(): string | null {
    return this.textOf(this.response.id)
  }

  /** Of the response, in the provider's words. */
  get status(): string | null {
    return this.textOf(this.response.status)
  }

  get serviceTier(): string | null {
    return this.textOf(this.response.tier)
  }

  /** Why a model stopped before its end. */
  get incompleteReason(): string | null {
    const at = this.response.incomplete
    if (at === null || at.end - at.start > DETAILS_BYTES_MAX) return null
    const { reason } = JSON.parse(this.bytes.toString('utf8', at.start, at.end)) as { reason?: unknown }
    return typeof reason === 'string' ? reason : null
  }

  /** The error of the response, as JSON of its own. */
  get reportedError(): Buffer {
    const error = this.partOf(this.response.error) ?? Buffer.from('null')
    return Buffer.concat([Buffer.from('{"error":'), error, Buffer.from('}')])
  }

  /** The figures of the provider; null: the bytes have none. Valid as long as the bytes are. */
  get usage(): Buffer | null {
    return this.partOf(this.response.usage)
  }

  /**
   * Gives all of it, with what the response lacks.
   * @param status of a response that tells none
   */
  write(out: SpliceSink, status: string): void {
    const { close } = this.response
    if (close === -1) return this.walk.splices.apply(this.start, this.end, out)
    this.walk.splices.apply(this.start, close, out)
    out.text(this.response.added(status, true))
    this.walk.splices.apply(close, this.end, out)
  }

  /** Gives the parts before and behind the usage of the response. @param status as for `write` */
  around(before: SpliceSink, behind: SpliceSink, status: string): void {
    const { splices } = this.walk
    const { close, usage } = this.response
    const added = this.response.added(status, false)
    if (usage === null) {
      splices.apply(this.start, close, before)
      before.text(`${added === '' ? ',' : `${added},`}"usage":`)
    } else {
      splices.apply(this.start, usage.start, before)
      splices.apply(usage.end, close, behind)
      behind.text(added)
    }
    splices.apply(close, this.end, behind)
  }

  protected override over(): number {
    return this.object(this.#top)
  }

  protected override anew(bytes: Buffer): Buffer | null {
    return bytes.length > this.#mendedMax ? null : writtenAnew(bytes, () => undefined)
  }
}
