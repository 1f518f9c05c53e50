import type { Outcome } from '../../schemas/failures.ts'
import { KNOWN_TIERS, OTHER_TIER, type TierMember, tierOf } from '../../schemas/models/price-conditions.ts'
import type { InferenceJob } from '../ports/inference/inference.ts'
import type { CallableModel } from '../ports/models/models.ts'
import type { AnswerMeter, CountedTier, StreamMeters } from '../ports/observe.ts'
import type { Try } from '../upstream/routing/attempts.ts'
import type { Written, WritingProtocol, SeenStream } from '../upstream/inference/protocol.ts'
import type { ReportedTiers, TokenUsage } from '../../dialects/parts.ts'
import { outputTokens } from '../../schemas/money/costs.ts'
import {
  PROGRESS_AHEAD_MS,
  PROGRESS_MS,
  PROGRESS_RATE_MS_MIN,
} from '../../schemas/inference/stream-limits.ts'
import type { InferenceEnd } from './record.ts'
import { judgeTextUsage, type AskedText, type TextRates } from './charge.ts'
import { isPrivate } from '../upstream/cost-bound.ts'

/** Milliseconds between two checks which streams have progress to report. Decision. */
export const PROGRESS_BEAT_MS = 250
/** Streams that report at one such check, in about 3 ms. Decision. */
export const PROGRESS_BEAT_STREAMS_MAX = 512

/** Stands for the models of workspaces, whose names are theirs. */
const PRIVATE = 'private'

type MeteredJob = Pick<InferenceJob, 'operation' | 'startedAt' | 'models'>
type WritingTry = Pick<Try<WritingProtocol>, 'model' | 'target' | 'trail'>

export class MeteredCall {
  readonly #meters: StreamMeters
  readonly #now: () => number
  readonly #job: MeteredJob
  #attemptedAt = 0
  /** Null: no endpoint has answered. */
  #meter: AnswerMeter | null = null
  /** Null: no output of a stream has left. */
  #committedAt: number | null = null
  #tokens = 0
  #pausedMs = 0
  #isDrained = false

  /** @param now milliseconds of the same clock as the start of the call */
  constructor(meters: StreamMeters, job: MeteredJob, now: () => number) {
    this.#meters = meters
    this.#now = now
    this.#job = job
  }

  /** The first attempt begins. */
  attempted(): void {
    this.#attemptedAt = this.#now()
  }

  /** The first output of a stream leaves. */
  committed(one: WritingTry): void {
    const now = this.#now()
    this.#committedAt = now
    const { startedAt } = this.#job
    const ownMs = this.#attemptedAt - startedAt
    this.#meterOf(one).committed({ ms: now - startedAt, ownMs, failed: one.trail.length })
  }

  /** @param usage of the answer so far */
  wrote(usage: TokenUsage): void {
    const tokens = outputTokens(usage)
    if (tokens <= this.#tokens) return
    this.#known.wrote(tokens - this.#tokens)
    this.#tokens = tokens
  }

  /** An endpoint has answered, whole or in part. */
  answered({ pausedMs, isDrained }: Pick<Written, 'pausedMs' | 'isDrained'>, one: WritingTry): void {
    this.#meterOf(one)
    this.#pausedMs = pausedMs
    this.#isDrained = isDrained
  }

  ended(outcome: Outcome<InferenceEnd>): void {
    const cause = (outcome.ok ? outcome.value.failure : outcome.failure)?.name ?? null
    if (outcome.ok) this.#tellEnd(outcome.value)
    const meter = this.#known
    meter.called(cause, outcome.ok && outcome.value.isEstimated)
    if (this.#committedAt === null) return
    const ms = this.#now() - this.#committedAt
    const [pausedMs, isDrained] = [this.#pausedMs, this.#isDrained]
    meter.ended({ cause, tokens: this.#tokens, ms, pausedMs, isDrained })
  }

  #tellEnd({ usage, dropped, unpricedTier, reported }: InferenceEnd): void {
    this.wrote(usage)
    const { input: fresh, cacheRead, cacheWrite } = usage
    const counted = unpricedTier === null ? null : countedTier(unpricedTier, reported)
    this.#known.answered({ fresh, cacheRead, cacheWrite, dropped, unpricedTier: counted })
  }

  #meterOf({ model, target: { endpoint } }: WritingTry): AnswerMeter {
    const name = isPrivate(endpoint) ? PRIVATE : model.id
    return this.#meterBy(endpoint.provider.slug, name)
  }

  /** Of the endpoint that answers, or of none. */
  get #known(): AnswerMeter {
    return this.#meter ?? this.#meterBy('', nameOf(this.#job.models[0]))
  }

  #meterBy(provider: string, model: string): AnswerMeter {
    return (this.#meter = this.#meters.of({ operation: this.#job.operation, provider, model }))
  }
}

/** Providers choose the names of tiers: the set of those that are counted is closed. */
function countedTier(member: TierMember, reported: ReportedTiers): CountedTier {
  const tier = tierOf(member, reported[member]) ?? OTHER_TIER
  return { member, tier: KNOWN_TIERS[member].includes(tier) ? tier : OTHER_TIER }
}

function nameOf(model: CallableModel | undefined): string {
  return model === undefined || model.endpoints.every(isPrivate) ? PRIVATE : model.id
}

export interface OpenStream {
  /** Milliseconds of the clock; set by `OpenStreams`. */
  dueAt: number
  /** Reports how far the answer has come. */
  report(): void
}

/**
 * The streams of a front whose answers have begun. Each reports how far it has come soon after its
 * beginning, and when a second has passed since its last report; those that are due report in one turn of
 * the loop. The events of a stream pass without a look at any clock.
 */
export class OpenStreams {
  readonly #open = new Set<OpenStream>()
  readonly #now: () => number
  #timer: NodeJS.Timeout | null = null

  constructor(now: () => number) {
    this.#now = now
  }

  add(stream: OpenStream): void {
    stream.dueAt = this.#now() + PROGRESS_RATE_MS_MIN
    this.#open.add(stream)
    this.#timer ??= setInterval(() => this.beat(), PROGRESS_BEAT_MS).unref()
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream)
    if (this.#open.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  /** Has the streams report that are due. */
  beat(): void {
    const now = this.#now()
    let reported = 0
    for (const stream of this.#open) {
      if (now < stream.dueAt) continue
      // Others wait for the next beat, and are apart from these from then on.
      if (reported++ >= PROGRESS_BEAT_STREAMS_MAX) return
      stream.dueAt = now + PROGRESS_MS
      stream.report()
    }
  }
}

/** With two seconds more at its rate: the last report of a dying front is old. The rate excludes the first output, perhaps many words at once. */
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
    const { usage: reportedUsage, outputBytes, isExact = false } = this.#seen
    if (isExact && reportedUsage !== null) return reportedUsage
    return judgeTextUsage(reportedUsage, { ...asked, outputBytes, isWhole: false }, rates).usage
  }

  /** @param now what the stream has come to @param openMs milliseconds since the first output */
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
