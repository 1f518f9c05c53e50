import { ODD, Output, WholeWalk } from '../walk/object-walk.ts'
import { NativeCalls } from './tool-calls.ts'
import { TopMembers, type TopState, ChoiceMembers, type ReadChoice } from './top-members.ts'
import type { NativeHead, TokenUsage, FailureOf } from '../parts.ts'
import type { EventBuffer } from '../walk/splices.ts'
import { joined, endOfSpace } from '../../schemas/values/json-bytes.ts'
import type { Failure } from '../../schemas/failures.ts'
import { CHOICES_MAX } from '../../schemas/inference/inference-limits.ts'
import { USAGE_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import { EVENTS, INVALID, isDoneMark, NativeEvents } from '../native-events.ts'
import type { SseEvent } from '../sse-reader.ts'
import { chatUsageOf } from './usage.ts'
import { reportedWith } from '../usage.ts'
import { mend, type ChatForm } from './tool-members.ts'
import type { ThinksIn } from '../../schemas/models/protocols.ts'

const DATA = 'data: '
const LINE_ENDS = Buffer.from('\n\n')
/** The most bytes before the choices of an event that are compared with those of the next event. */
const KNOWN_BYTES_MAX = 4 * 1_024

/** An event's bytes before its choices. */
interface Known {
  /** The bytes as the provider wrote them. */
  readonly from: Buffer
  /** The bytes that are passed on, after `data: `. */
  readonly to: Buffer
  readonly state: TopState
}

/** An event that later events may repeat with another text. */
interface Repeated {
  /** The provider's bytes up to the text, with its opening quote. */
  readonly before: Buffer
  /** The provider's bytes from the closing quote on. */
  readonly after: Buffer
  /** The bytes passed on before the text; `putAfter` contains the bytes after it, including the end of the event. */
  readonly put: Buffer
  readonly putAfter: Buffer
  readonly choices: ReadChoice[]
  readonly state: TopState
  /** Bytes of output other than the text. */
  readonly otherBytes: number
}

/** Bytes around the text of an event that may be repeated. */
const REPEATED_BYTES_MAX = 1_024
/** The most attempts per stream to find a repeated event; in some streams the events differ in more than their text. */
const LOOKS_MAX = 4

/**
 * Walks over an event of a chat stream, or over a whole answer, as the provider wrote it: finds what Sluice
 * replaces, adds and takes out, and what it counts. All other bytes stay as they came. Clients that validate
 * refuse null in many members: those are taken out, and missing members are added.
 *
 * The events of one stream begin alike, so the bytes before the choices are walked over once and then only
 * compared. Most events differ only in one text: then the bytes around the text are compared and only the
 * text is read.
 */
export class ChatWalk extends WholeWalk {
  readonly output = new Output()
  readonly #form: ChatForm
  readonly #choices: ChoiceMembers
  readonly #top: TopMembers
  /** Null: no event had a call. */
  #calls: NativeCalls | null = null
  #known: Known | null = null
  #repeated: Repeated | null = null
  #looks = 0
  /** The bytes are `#repeated` with another text. */
  #isRepeated = false
  /** The bytes begin like those of the previous event. */
  #isKnown = false

  constructor(head: NativeHead, form: ChatForm) {
    super()
    this.#form = form
    this.#choices = new ChoiceMembers(this.walk, form, this.output)
    this.#top = new TopMembers(this.walk, { form, head, choices: this.#choices })
  }

  get choices(): readonly ReadChoice[] {
    return this.#choices.choices
  }

  get hasError(): boolean {
    return this.#top.hasError
  }

  /** Decoded at each call, which only the first event of a stream needs. */
  get upstreamId(): string | null {
    return this.textOf(this.#top.id)
  }

  /** The tier that the bytes report, decoded at each call; null: none, or the same as in the previous event. */
  get serviceTier(): string | null {
    return this.textOf(this.#top.tier)
  }

  get createdS(): number {
    return this.#top.createdS
  }

  /** The figures of the provider, a JSON object; null: the bytes have none. Valid as long as the bytes are. */
  get usage(): Buffer | null {
    return this.partOf(this.#top.usage ?? this.#choices.usage)
  }

  /** Assigns indexes to the calls of the event that was walked over. @returns false: there are too many calls */
  placeCalls(): boolean {
    const { fragments } = this.#choices
    if (fragments.count === 0) return true
    this.#calls ??= new NativeCalls()
    return this.#calls.place(fragments, this.walk.splices)
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
      this.walk.splices.apply(this.#known.from.length, this.end, out)
      if (this.#looks < LOOKS_MAX) this.#look(this.#known)
    } else {
      this.#top.fix()
      out.text(DATA)
      this.walk.splices.apply(this.start, this.end, out)
      this.#know()
    }
    out.lineEnds()
  }

  /** The bytes that were walked over, without the closing brace. */
  get unclosed(): readonly Uint8Array[] {
    return this.walk.pieces(this.start, this.end - 1)
  }

  protected override over(): number {
    this.#choices.clear()
    this.output.clear()
    this.#isRepeated = this.#repeated !== null && this.#isAgain(this.#repeated)
    if (this.#isRepeated) return this.bytes.length
    const end = this.#members()
    return end >= 0 && this.#choices.isOdd ? ODD : end
  }

  protected override anew(bytes: Buffer): Buffer | null {
    return mend(bytes, this.#form)
  }

  #members(): number {
    const known = this.#known
    this.#isKnown = known !== null && isBegin(this.bytes, known.from)
    if (known === null || !this.#isKnown) return this.object(this.#top)
    this.#top.restore(known.state)
    return this.ended(this.walk.resume(this.#top, this.#top.choices(known.from.length, 2), 1))
  }

  #isAgain({ before, after, choices, state, otherBytes }: Repeated): boolean {
    const { bytes, output } = this
    const close = bytes.length - after.length
    if (close < before.length || !isAt(bytes, 0, before) || !isAt(bytes, close, after)) return false
    const { json } = this.walk
    if (json.string(before.length - 1) !== close + 1) return false
    this.#top.restore(state)
    this.#choices.choices = choices
    output.add(otherBytes + json.textBytes)
    return true
  }

  /** Keeps the bytes around the text of the event if only the text changes from event to event. */
  #look({ from, to, state }: Known): void {
    this.#looks++
    const { bytes } = this
    const { textAt, textEnd, textBytes } = this.#choices.delta
    const [choice, other] = this.choices
    const isPlain = other === undefined && choice?.finish === null && this.usage === null && !this.hasError
    // The written index of a call may differ from event to event.
    if (
      !isPlain ||
      this.#choices.fragments.count > 0 ||
      textAt === -1 ||
      bytes.length - (textEnd - textAt) > REPEATED_BYTES_MAX
    )
      return
    // Slices of Node's buffer pool would each keep 8 KiB in memory for the stream.
    this.#repeated = {
      before: joined([bytes.subarray(0, textAt + 1)]),
      after: joined([bytes.subarray(textEnd - 1)]),
      put: joined([to, ...this.walk.pieces(from.length, textAt + 1)]),
      putAfter: joined([...this.walk.pieces(textEnd - 1, this.end), LINE_ENDS]),
      choices: this.#choices.choices,
      state,
      otherBytes: this.output.bytes - textBytes,
    }
  }

  /** Keeps the beginning of the event for the next ones, unless it contains figures, which differ in each event. */
  #know(): void {
    const { choicesAt, usage, state } = this.#top
    const { bytes } = this
    if (choicesAt === -1 || choicesAt > KNOWN_BYTES_MAX || (usage !== null && usage.start < choicesAt)) return
    const to = joined([Buffer.from(DATA), ...this.walk.pieces(this.start, choicesAt)])
    this.#known = { from: joined([bytes.subarray(0, choicesAt)]), to, state }
  }
}

function isBegin(bytes: Buffer, begin: Buffer): boolean {
  return bytes.length > begin.length && isAt(bytes, 0, begin)
}

/** A loop, since `compare` takes longer for so few bytes. `bytes` must not end before `at` + the length of `part`. */
function isAt(bytes: Buffer, at: number, part: Buffer): boolean {
  const { length } = part
  for (let nth = 0; nth < length; nth++) if (bytes[at + nth] !== part[nth]) return false
  return true
}

/**
 * The stream of a provider that speaks OpenAI's chat, for a caller that does. Events are passed on as their
 * bytes came, with the changes of D13: the usage is removed and kept, and an event without choices is not
 * passed on. A choice begins with its role. An event that has to be parsed is parsed on the loop, up to
 * STREAM_MENDED_BYTES_MAX.
 */
export class NativeChatStream extends NativeEvents {
  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. */
  outputBytes = 0
  /** Sluice writes the usage in its own event. */
  readonly finalEvents = null
  protected readonly walk: ChatWalk
  readonly #head: NativeHead
  /** Finish reasons of the choices that have begun; null: the choice has not ended. */
  readonly #choices = new Map<number, string | null>()
  #usage: Buffer | null = null

  constructor(head: NativeHead, failureOf: FailureOf) {
    super(failureOf)
    this.#head = head
    this.walk = new ChatWalk(head, 'event')
  }

  /** The last usage that the provider reported; null when there is no usage, it is not numeric, or it reports zero output although output was sent. */
  get usage(): TokenUsage | null {
    return this.#usage === null ? null : chatUsageOf(this.#usage, this.hasOutput)
  }

  get thinksIn(): ThinksIn | null {
    return this.walk.output.thinksIn
  }

  /** Creation time in Unix seconds, the same in all events. */
  get createdS(): number {
    return this.walk.createdS
  }

  protected override get isWhole(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every((finish) => finish !== null)
  }

  protected override take({ name, data, isOneLine }: SseEvent): Failure | null {
    if (name === 'error') return this.failureOf(data)
    const start = endOfSpace(data, 0)
    if (start === data.length) return null
    if (isDoneMark(data, start)) {
      this.isDone = true
      return null
    }
    const walk = this.walk
    if (!walk.run(data, isOneLine)) return INVALID
    const { choices } = walk
    if (walk.hasError || choices.some(({ finish }) => finish === 'error')) return this.failureOf(data)
    this.upstreamId ??= walk.upstreamId
    const { serviceTier } = walk
    if (serviceTier !== null) this.reported = reportedWith(this.reported, { service_tier: serviceTier })
    this.#remember(walk.usage)
    if (choices.length === 0) return null
    if (!walk.placeCalls()) return INVALID
    for (const choice of choices) this.#enter(choice)
    // No call can request more choices.
    if (this.#choices.size > CHOICES_MAX) return INVALID
    walk.write(EVENTS)
    if (walk.output.isThere) this.hasOutput = true
    this.outputBytes += walk.output.bytes
    return null
  }

  #enter({ index, hasRole, finish }: ReadChoice): void {
    const before = this.#choices.get(index)
    if (before === undefined && !hasRole) this.#writeRole(index)
    if (before === undefined || finish !== null) this.#choices.set(index, finish)
    this.finishReason = finish ?? this.finishReason
  }

  #writeRole(index: number): void {
    const { id, model, provider } = this.#head
    const choices = [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]
    const { createdS: created } = this
    const event = { id, object: 'chat.completion.chunk', created, model, provider, choices }
    EVENTS.text(`data: ${JSON.stringify(event)}`)
    EVENTS.lineEnds()
  }

  #remember(usage: Buffer | null): void {
    if (usage !== null && usage.length <= USAGE_BYTES_MAX) this.#usage = Buffer.from(usage)
  }
}
