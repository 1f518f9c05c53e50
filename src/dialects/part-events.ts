import { ok, type Failure, type Outcome } from '../schemas/failures.ts'
import { TRANSLATED_INLINE_BYTES_MAX } from '../schemas/inference/inference-limits.ts'
import { endOfSpace, joined } from '../schemas/values/json-bytes.ts'
import { parseMarked, withoutMarks } from '../schemas/values/long-integers.ts'
import { objectOf, type Members } from '../schemas/values/members.ts'
import { INVALID, isDoneMark, UNFINISHED } from './native-events.ts'
import { SseReader, type SseEvent, type SseRead } from './sse-reader.ts'
import type {
  ReportedTiers,
  TokenUsage,
  WrittenPart,
  NoAnswer,
  PartRead,
  PartStream,
  WholeParts,
  WholeRead,
  FailureOf,
} from './parts.ts'
import { NOTHING_REPORTED, reportedWith } from './usage.ts'
import type { ThinksIn } from '../schemas/models/protocols.ts'

/** The most parts of one whole answer, after the fragments of each text are joined. Decision. */
export const PARTS_MAX = 10_000

const NOTHING: PartRead = { parts: [], failure: null }

/** Parses a large event on a worker thread: see `largeEvent`. Null: it is invalid. */
export type ReadLarge = (data: Uint8Array) => Promise<Outcome<Members | null>>

/**
 * The parts of a provider's stream, each event read by its protocol. A whole answer is read by the same code,
 * as a stream of a few events, so streamed and whole answers cannot differ.
 */
export abstract class PartEvents implements PartStream {
  hasOutput = false
  isDone = false
  outputBytes = 0
  finishReason: string | null = null
  upstreamId: string | null = null
  reported: ReportedTiers = NOTHING_REPORTED
  thinksIn: ThinksIn | null = null
  abstract readonly usage: TokenUsage | null
  readonly #reader = new SseReader()
  readonly #failureOf: FailureOf
  readonly #readLarge: ReadLarge | null
  #parts: WrittenPart[] = []
  #failure: Failure | null = null
  /** The error that a failed answer reports; null: none. */
  #reported: Buffer | null = null
  /** Consecutive fragments of one text become one part. */
  #isJoining = false

  /** @param readLarge null: events of all sizes are parsed where the stream is read */
  constructor(failureOf: FailureOf, readLarge: ReadLarge | null = null) {
    this.#failureOf = failureOf
    this.#readLarge = readLarge
  }

  get heldBytes(): number {
    return this.#reader.heldBytes
  }

  /** @param bytes the next of the provider's body */
  read(bytes: Uint8Array): PartRead {
    if (this.#failure !== null) return { parts: [], failure: this.#failure }
    if (this.isDone) return NOTHING
    return this.#taken(this.#reader.read(bytes))
  }

  /** @param failure of the reader, after the events */
  #taken({ events, failure }: SseRead): PartRead {
    let taken = 0
    for (const event of events) {
      taken++
      const readLarge = this.#threadFor(event)
      if (readLarge !== null) {
        // The read buffer may be reused before the thread has answered.
        const { name, data } = owned(event)
        const behind = { events: events.slice(taken).map(owned), failure }
        const rest = async (): Promise<PartRead> => this.#goneOn(await readLarge(data), name, behind)
        return { parts: this.given(), failure: null, rest }
      }
      const before = this.outputBytes
      this.#failure = this.#event(event)
      if (this.outputBytes === before) this.#failure ??= this.#reader.bareEvent()
      if (this.#failure !== null || this.isDone) break
    }
    // Bytes after the last event must not make the stream fail.
    if (!this.isDone) this.#failure ??= failure
    return { parts: this.given(), failure: this.#failure }
  }

  /** @param read a large event, parsed on a thread @param behind the reader's result after this event */
  #goneOn(read: Outcome<Members | null>, name: string, behind: SseRead): PartRead {
    this.#failure = read.ok ? this.#takeParsed(read.value, name, NO_DATA) : read.failure
    const isOver = this.#failure !== null || this.isDone
    return isOver ? { parts: this.given(), failure: this.#failure } : this.#taken(behind)
  }

  /** Null: the event is parsed here. Errors are always parsed here, since their bytes are reported. */
  #threadFor({ name, data }: SseEvent): ReadLarge | null {
    return data.length > TRANSLATED_INLINE_BYTES_MAX && name !== 'error' ? this.#readLarge : null
  }

  /** Null: the stream was whole. */
  end(): Failure | null {
    return this.#failure ?? (this.isWhole ? null : UNFINISHED)
  }

  /**
   * Reads a whole answer. Failures: those of the stream's events; upstream_invalid for an error instead of an
   * answer, and for an answer that is incomplete or has too many parts.
   * @param events the answer as the events of a stream
   */
  whole(events: readonly Members[]): WholeRead<WholeParts> {
    this.#isJoining = true
    for (const event of events) {
      const failure = this.#take(event, '')
      if (this.#reported !== null) return { ...NO_ANSWER, error: this.#reported }
      if (failure !== null) return failure === 'failed' ? NO_ANSWER : { ok: false, failure }
    }
    if (this.end() !== null || this.#parts.length > PARTS_MAX) return NO_ANSWER
    const { usage, outputBytes, finishReason, upstreamId, reported, thinksIn } = this
    const figures = { usage, outputBytes, finishReason, upstreamId, reported, ...(thinksIn && { thinksIn }) }
    return ok({ parts: this.given(), ...figures })
  }

  get awaitsUsage(): boolean {
    return this.isWhole && !this.isDone && this.usage === null
  }

  /** The answer came to its end. */
  protected get isWhole(): boolean {
    return this.isDone
  }

  /**
   * Reads an event. Returns `failed` for an event in which the provider reports a failure.
   * @param name of its `event:` line; the empty string without one
   */
  protected abstract take(event: Members, name: string): Failure | 'failed' | null

  /** Handles the mark that ends a chat stream; other protocols ignore it. */
  protected done(): Failure | null {
    return null
  }

  protected write(part: WrittenPart): void {
    if (part.kind !== 'finish') this.hasOutput = true
    if ('text' in part) this.outputBytes += Buffer.byteLength(part.text)
    const joined = this.#isJoining ? joinedOf(this.#parts.at(-1), part) : null
    if (joined === null) this.#parts.push(part)
    else this.#parts[this.#parts.length - 1] = joined
  }

  /** @param members in which the provider reports tiers, if any */
  protected report(members: Members): void {
    this.reported = reportedWith(this.reported, members)
  }

  /** The failure of an answer that ended with an error. @param error as a member of the event has it */
  protected failureIn(error: unknown): Failure {
    this.#reported = Buffer.from(withoutMarks(JSON.stringify({ error: error ?? null })))
    return this.#failureOf(this.#reported, true)
  }

  #event({ name, data }: SseEvent): Failure | null {
    const start = endOfSpace(data, 0)
    if (name === 'error') return this.#failed(data)
    if (start === data.length) return null
    if (isDoneMark(data, start)) return this.done()
    return this.#takeParsed(parsed(data), name, data)
  }

  /** @param data of the event; empty for a large one, whose text is not reported */
  #takeParsed(event: Members | null, name: string, data: Buffer): Failure | null {
    if (event === null) return INVALID
    const failure = this.#take(event, name)
    return failure === 'failed' ? this.#failed(data) : failure
  }

  /** A value that is nested too deeply can be parsed but not serialized. */
  #take(event: Members, name: string): Failure | 'failed' | null {
    try {
      return this.take(event, name)
    } catch {
      return INVALID
    }
  }

  #failed(data: Buffer): Failure {
    return this.#failureOf(data)
  }

  /** The parts that were written since the last time. */
  protected given(): readonly WrittenPart[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }
}

const NO_DATA = Buffer.alloc(0)

/** Copies the event into separate memory. */
function owned(event: SseEvent): SseEvent {
  return event.isOwn ? event : { ...event, data: joined([event.data]), isOwn: true }
}

/** Null: the parts do not belong to the same text. */
function joinedOf(last: WrittenPart | undefined, part: WrittenPart): WrittenPart | null {
  const isOne =
    last !== undefined &&
    'text' in last &&
    'text' in part &&
    last.kind === part.kind &&
    last.choice === part.choice &&
    isSummary(last) === isSummary(part)
  return isOne ? { ...last, text: last.text + part.text } : null
}

function isSummary(part: WrittenPart): boolean {
  return part.kind === 'reasoning' && part.isSummary === true
}

/** The error of a whole answer is cleaned later, by code that knows the credential: see `NoAnswer`. */
export const CLEANED_LATER: FailureOf = () => INVALID

/** The body is not an answer in the protocol, or is incomplete. */
export const NO_ANSWER: NoAnswer = { ok: false, failure: INVALID }

/** Long integers are replaced by marks. Null: not a JSON object. */
export function parsed(json: Buffer): Members | null {
  try {
    return objectOf(parseMarked(json.toString('utf8')))
  } catch {
    return null
  }
}
