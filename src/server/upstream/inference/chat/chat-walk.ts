import { endOfSpace, OPEN_OBJECT, WRONG } from '../../../../schemas/values/json-bytes.ts'
import { isUtf8 } from 'node:buffer'
import { ChoiceMembers, type ReadChoice } from './choice-members.ts'
import { Output, type ChatForm } from './delta-members.ts'
import type { EventBuffer } from './event-buffer.ts'
import { mend } from './mend.ts'
import { ObjectWalk, ODD } from './object-walk.ts'
import type { SpliceSink } from './splices.ts'
import type { NativeHead } from '../protocol.ts'
import { TopMembers, type TopState } from './top-members.ts'

const DATA = 'data: '
const NO_BYTES = Buffer.alloc(0)
/** Bytes of an event before its choices that are compared with the next event's. */
const KNOWN_BYTES_MAX = 4 * 1_024

/** An event's bytes before its choices. */
interface Known {
  /** As the provider wrote them. */
  readonly from: Buffer
  /** As they are passed on, behind `data: `. */
  readonly to: Buffer
  readonly state: TopState
}

/**
 * Walks over an event of a chat stream, or over a whole answer, as the provider wrote it: finds what Sluice
 * replaces, adds and takes out, and what it counts. All other bytes stay as they came. Clients that validate
 * refuse null in many members: those are taken out, and missing members are added. D13, D14.
 *
 * The events of one stream begin alike: what stands before the choices is walked over once, then compared.
 */
export class ChatWalk {
  readonly output = new Output()
  /** What was walked over: the provider's bytes, or those bytes written anew. */
  bytes: Buffer = NO_BYTES
  readonly #form: ChatForm
  readonly #walk = new ObjectWalk()
  readonly #choices: ChoiceMembers
  readonly #top: TopMembers
  #known: Known | null = null
  /** The bytes begin as those before them did. */
  #isKnown = false
  #start = 0
  #end = 0

  constructor(head: NativeHead, form: ChatForm) {
    this.#form = form
    this.#choices = new ChoiceMembers(this.#walk, form, this.output)
    this.#top = new TopMembers(this.#walk, { form, head, choices: this.#choices })
  }

  get choices(): readonly ReadChoice[] {
    return this.#choices.choices
  }

  get hasError(): boolean {
    return this.#top.hasError
  }

  /** Decoded at each call, which only the first event of a stream needs. */
  get upstreamId(): string | null {
    const { id } = this.#top
    return id === null ? null : (JSON.parse(this.bytes.toString('utf8', id.start, id.end)) as string)
  }

  get createdS(): number {
    return this.#top.createdS
  }

  /**
   * The figures of the provider, a JSON object; null: the bytes have none. Valid as long as the bytes are.
   */
  get usage(): Buffer | null {
    const span = this.#top.usage ?? this.#choices.usage
    return span === null ? null : this.bytes.subarray(span.start, span.end)
  }

  /**
   * @param isOneLine the bytes have no line end in them
   * @returns false: the bytes are no JSON object, or have values that cannot be passed on
   */
  run(bytes: Buffer, isOneLine: boolean): boolean {
    const end = isOneLine && isUtf8(bytes) ? this.#over(bytes) : ODD
    if (end !== ODD) return end !== WRONG
    const mended = mend(bytes, this.#form)
    return mended !== null && this.#over(mended) >= 0
  }

  /** Writes the event that was walked over. */
  write(out: EventBuffer): void {
    out.source = this.bytes
    if (this.#isKnown && this.#known !== null) {
      out.whole(this.#known.to)
      this.#walk.splices.apply(this.#known.from.length, this.#end, out)
    } else {
      out.text(DATA)
      this.#walk.splices.apply(this.#start, this.#end, out)
      this.#know()
    }
    out.lineEnds()
  }

  /** Gives what was walked over up to its closing brace. */
  splice(out: SpliceSink): void {
    this.#walk.splices.apply(this.#start, this.#end - 1, out)
  }

  /** Lets go of the bytes. What was counted stays. */
  release(): void {
    this.bytes = NO_BYTES
    this.#walk.begin(NO_BYTES)
  }

  #over(bytes: Buffer): number {
    this.bytes = bytes
    this.#walk.begin(bytes)
    this.#choices.clear()
    this.output.clear()
    const end = this.#endOf(bytes)
    if (end < 0) return end
    if (endOfSpace(bytes, end) !== bytes.length) return WRONG
    this.#end = end
    return this.#choices.isOdd ? ODD : end
  }

  #endOf(bytes: Buffer): number {
    const known = this.#known
    this.#isKnown = known !== null && isBegin(bytes, known.from)
    if (known !== null && this.#isKnown) {
      this.#top.restore(known.state)
      return this.#walk.resume(this.#top, this.#top.choices(known.from.length, 2), 1)
    }
    this.#start = endOfSpace(bytes, 0)
    return bytes[this.#start] === OPEN_OBJECT ? this.#walk.object(this.#top, this.#start, 0, 1) : ODD
  }

  /** Keeps the begin of the event for the next ones; not with figures in it, which differ in each. */
  #know(): void {
    const { choicesAt, usage, state } = this.#top
    const { bytes } = this
    if (choicesAt === -1 || choicesAt > KNOWN_BYTES_MAX || (usage !== null && usage.start < choicesAt)) return
    const to: Buffer[] = [Buffer.from(DATA)]
    this.#walk.splices.apply(this.#start, choicesAt, {
      bytes: (start, end) => to.push(bytes.subarray(start, end)),
      text: (text) => to.push(Buffer.from(text)),
    })
    this.#known = { from: Buffer.from(bytes.subarray(0, choicesAt)), to: Buffer.concat(to), state }
  }
}

function isBegin(bytes: Buffer, begin: Buffer): boolean {
  return bytes.length > begin.length && bytes.compare(begin, 0, begin.length, 0, begin.length) === 0
}
