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
const LINE_ENDS = Buffer.from('\n\n')
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

/** An event whose text alone may differ from that of the next ones. */
interface Repeated {
  /** The provider's bytes up to the text, with its opening quote. */
  readonly before: Buffer
  /** The provider's bytes from the closing quote on. */
  readonly after: Buffer
  /** What is passed on before the text, and behind it with the end of the event. */
  readonly put: Buffer
  readonly putAfter: Buffer
  readonly choices: ReadChoice[]
  readonly state: TopState
  /** Bytes of output beside the text. */
  readonly otherBytes: number
}

/** Bytes around the text of an event that may be repeated. */
const REPEATED_BYTES_MAX = 1_024
/** Times that a stream's events are looked at for what they repeat; some differ in more than their text. */
const LOOKS_MAX = 4

/**
 * Walks over an event of a chat stream, or over a whole answer, as the provider wrote it: finds what Sluice
 * replaces, adds and takes out, and what it counts. All other bytes stay as they came. Clients that validate
 * refuse null in many members: those are taken out, and missing members are added. D13, D14.
 *
 * The events of one stream begin alike: what stands before the choices is walked over once, then compared.
 * Most of them differ in one text alone: then all around the text is compared, and the text is read.
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
  #repeated: Repeated | null = null
  #looks = 0
  /** The bytes are `#repeated` with another text. */
  #isRepeated = false
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
    if (this.#isRepeated && this.#repeated !== null) {
      const { before, after, put, putAfter } = this.#repeated
      out.whole(put)
      out.bytes(before.length, this.bytes.length - after.length)
      return out.whole(putAfter)
    }
    if (this.#isKnown && this.#known !== null) {
      out.whole(this.#known.to)
      this.#walk.splices.apply(this.#known.from.length, this.#end, out)
      if (this.#looks < LOOKS_MAX) this.#look(this.#known)
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
    this.#isRepeated = this.#repeated !== null && this.#isAgain(this.#repeated)
    if (this.#isRepeated) return bytes.length
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

  #isAgain({ before, after, choices, state, otherBytes }: Repeated): boolean {
    const { bytes, output } = this
    const close = bytes.length - after.length
    if (close < before.length || !isAt(bytes, 0, before) || !isAt(bytes, close, after)) return false
    const { json } = this.#walk
    if (json.string(before.length - 1) !== close + 1) return false
    this.#top.restore(state)
    this.#choices.choices = choices
    output.add(otherBytes + json.textBytes)
    return true
  }

  /** Keeps what stands around the text of the event, when nothing else in it differs from event to event. */
  #look({ from, to, state }: Known): void {
    this.#looks++
    const { bytes } = this
    const { textAt, textEnd, textBytes } = this.#choices.delta
    const [choice, other] = this.choices
    const isPlain = other === undefined && choice?.finish === null && this.usage === null && !this.hasError
    if (!isPlain || textAt === -1 || bytes.length - (textEnd - textAt) > REPEATED_BYTES_MAX) return
    this.#repeated = {
      before: Buffer.from(bytes.subarray(0, textAt + 1)),
      after: Buffer.from(bytes.subarray(textEnd - 1)),
      put: Buffer.concat([to, ...this.#spliced(from.length, textAt + 1)]),
      putAfter: Buffer.concat([...this.#spliced(textEnd - 1, this.#end), LINE_ENDS]),
      choices: this.#choices.choices,
      state,
      otherBytes: this.output.bytes - textBytes,
    }
  }

  #spliced(start: number, end: number): readonly Buffer[] {
    const pieces: Buffer[] = []
    this.#walk.splices.apply(start, end, {
      bytes: (from, to) => pieces.push(this.bytes.subarray(from, to)),
      text: (text) => pieces.push(Buffer.from(text)),
    })
    return pieces
  }

  /** Keeps the begin of the event for the next ones; not with figures in it, which differ in each. */
  #know(): void {
    const { choicesAt, usage, state } = this.#top
    const { bytes } = this
    if (choicesAt === -1 || choicesAt > KNOWN_BYTES_MAX || (usage !== null && usage.start < choicesAt)) return
    const to = Buffer.concat([Buffer.from(DATA), ...this.#spliced(this.#start, choicesAt)])
    this.#known = { from: Buffer.from(bytes.subarray(0, choicesAt)), to, state }
  }
}

function isBegin(bytes: Buffer, begin: Buffer): boolean {
  return bytes.length > begin.length && isAt(bytes, 0, begin)
}

/** A loop: a call of `compare` takes longer for so few bytes. The place must leave room for all of them. */
function isAt(bytes: Buffer, at: number, part: Buffer): boolean {
  const { length } = part
  for (let nth = 0; nth < length; nth++) if (bytes[at + nth] !== part[nth]) return false
  return true
}
