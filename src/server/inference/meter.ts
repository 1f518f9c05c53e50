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

/** Milliseconds between two checks for streams that have progress to report. Decision. */
export const PROGRESS_BEAT_MS = 250
/** Streams that report in one such check, which takes about 3 ms. Decision. */
export const PROGRESS_BEAT_STREAMS_MAX = 512

/** Label for the models of workspaces, since workspaces choose their names. */
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
  /** Time of the first output; null: no output of a stream has been sent. */
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

  /** Called when the first output of a stream is sent. */
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

  /** Called when an endpoint has answered, completely or in part. */
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

  /** The meter of the endpoint that answers, or of none. */
  get #known(): AnswerMeter {
    return this.#meter ?? this.#meterBy('', nameOf(this.#job.models[0]))
  }

  #meterBy(provider: string, model: string): AnswerMeter {
    return (this.#meter = this.#meters.of({ operation: this.#job.operation, provider, model }))
  }
}

/** The label of a tier: providers choose the names, so only known ones are counted separately. */
function countedTier(member: TierMember, reported: ReportedTiers): CountedTier {
  const tier = tierOf(member, reported[member]) ?? OTHER_TIER
  return { member, tier: KNOWN_TIERS[member].includes(tier) ? tier : OTHER_TIER }
}

function nameOf(model: CallableModel | undefined): string {
  return model === undefined || model.endpoints.every(isPrivate) ? PRIVATE : model.id
}

export interface OpenStream {
  /** Time of the next report in milliseconds of the clock; set by `OpenStreams`. */
  dueAt: number
  /** Reports the progress of the answer. */
  report(): void
}

/**
 * The streams of a front whose answers have begun. Each reports its progress soon after its beginning, and
 * again when a second has passed since its last report; all due reports are made in one turn of the loop.
 * Passing on the events of a stream reads no clock.
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

  /** Makes the due streams report. */
  beat(): void {
    const now = this.#now()
    let reported = 0
    for (const stream of this.#open) {
      if (now < stream.dueAt) continue
      // The others wait for the next beat, and are no longer due together with these.
      if (reported++ >= PROGRESS_BEAT_STREAMS_MAX) return
      stream.dueAt = now + PROGRESS_MS
      stream.report()
    }
  }
}

/**
 * Extrapolates the usage of a stream by two seconds at its rate, since the last report of a dying front is
 * old. The rate excludes the first output, which may be many words at once.
 */
export class StreamRate {
  readonly #seen: SeenStream
  readonly #first: number

  /** At the first output. */
  constructor(seen: SeenStream) {
    this.#seen = seen
    this.#first = sizeOf(seen)
  }

  /** The usage of the stream so far. */
  usage(asked: AskedText, rates: TextRates): TokenUsage {
    const { usage: reportedUsage, outputBytes, isExact = false } = this.#seen
    if (isExact && reportedUsage !== null) return reportedUsage
    return judgeTextUsage(reportedUsage, { ...asked, outputBytes, isWhole: false }, rates).usage
  }

  /** @param now usage so far @param openMs milliseconds since the first output */
  ahead(now: TokenUsage, openMs: number): TokenUsage {
    const size = sizeOf(this.#seen)
    // Estimated reasoning is not part of the delivered bytes.
    const tokens = this.#seen.usage === null ? now.output : now.output + now.reasoning
    const later = size === 0 ? 0 : ((size - this.#first) / size) * tokens
    const ahead = Math.ceil((later * PROGRESS_AHEAD_MS) / Math.max(openMs, PROGRESS_RATE_MS_MIN))
    return { ...now, output: now.output + ahead }
  }
}

/** The size of the answer so far: in tokens if Sluice counts them, else in bytes. */
function sizeOf({ usage, outputBytes, isExact = false }: SeenStream): number {
  return isExact && usage !== null ? usage.output + usage.reasoning : outputBytes
}
