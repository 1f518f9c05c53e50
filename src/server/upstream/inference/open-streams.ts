import {
  PROGRESS_AHEAD_MS,
  PROGRESS_BEAT_MS,
  PROGRESS_BEAT_STREAMS_MAX,
  PROGRESS_MS,
  PROGRESS_RATE_MS_MIN,
} from '../../../schemas/inference/stream-limits.ts'
import { judgeTextUsage, type AskedText, type TextRates } from './text-usage.ts'
import type { ReportedTiers, TokenUsage } from '../../../dialects/parts.ts'

/** What an answer has come to, read while it streams. */
export interface SeenStream {
  /** As the provider told it so far; null: it told none. */
  readonly usage: TokenUsage | null
  /** The figures are Sluice's own count. */
  readonly isExact?: boolean
  /** UTF-8 bytes of text, reasoning and arguments that were delivered. */
  readonly outputBytes: number
  /** The provider's own id of the answer; null: it told none. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** As in `AnsweredBy`. */
  readonly createdS?: number
}

interface OpenStream {
  readonly tell: () => void
  /** Milliseconds of the clock. */
  dueAt: number
}

/**
 * The streams of a front whose answers have begun. Each tells how far it has come soon after its beginning,
 * and when a second has passed since it last told; those that are due tell in one turn of the loop. The
 * events of a stream pass without a look at any clock. D28.
 */
export class OpenStreams {
  readonly #open = new Set<OpenStream>()
  readonly #now: () => number
  #timer: NodeJS.Timeout | null = null

  constructor(now: () => number) {
    this.#now = now
  }

  /** @returns ends it */
  add(tell: () => void): () => void {
    const stream = { tell, dueAt: this.#now() + PROGRESS_RATE_MS_MIN }
    this.#open.add(stream)
    this.#timer ??= setInterval(() => this.beat(), PROGRESS_BEAT_MS).unref()
    return () => {
      this.#open.delete(stream)
      if (this.#open.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  /** Has the streams tell that are due. */
  beat(): void {
    const now = this.#now()
    let told = 0
    for (const stream of this.#open) {
      if (now < stream.dueAt) continue
      // Others wait for the next beat, and are apart from these from then on.
      if (told++ >= PROGRESS_BEAT_STREAMS_MAX) return
      stream.dueAt = now + PROGRESS_MS
      stream.tell()
    }
  }
}

/**
 * What a stream has come to, and what two more seconds at its rate would add: a front that dies has told it a
 * while ago. The rate is of what followed the first output, which may be many words at once. D28.
 */
export class StreamRate {
  readonly #seen: SeenStream
  readonly #first: number

  /** At the first output. */
  constructor(seen: SeenStream) {
    this.#seen = seen
    this.#first = sizeOf(seen)
  }

  /** What the stream has come to. */
  usage(asked: AskedText, rates: TextRates): TokenUsage {
    const { usage: told, outputBytes, isExact = false } = this.#seen
    if (isExact && told !== null) return told
    return judgeTextUsage(told, { ...asked, outputBytes, isWhole: false }, rates).usage
  }

  /**
   * @param now what the stream has come to
   * @param openMs milliseconds since the first output
   */
  ahead(now: TokenUsage, openMs: number): TokenUsage {
    const size = sizeOf(this.#seen)
    // Estimated reasoning is not in what was delivered.
    const tokens = this.#seen.usage === null ? now.output : now.output + now.reasoning
    const later = size === 0 ? 0 : ((size - this.#first) / size) * tokens
    const ahead = Math.ceil((later * PROGRESS_AHEAD_MS) / Math.max(openMs, PROGRESS_RATE_MS_MIN))
    return { ...now, output: now.output + ahead }
  }
}

/** What grows with the answer: tokens where Sluice counts them, else bytes. */
function sizeOf({ usage, outputBytes, isExact = false }: SeenStream): number {
  return isExact && usage !== null ? usage.output + usage.reasoning : outputBytes
}
