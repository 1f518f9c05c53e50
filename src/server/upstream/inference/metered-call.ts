import type { Outcome } from '../../../schemas/failures.ts'
import { KNOWN_TIERS, OTHER_TIER, type TierMember } from '../../../schemas/models/price-conditions.ts'
import { tierOf } from '../../../schemas/money/tiers.ts'
import type { InferenceEnd, InferenceJob } from '../../ports/inference/inference.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import type { AnswerMeter, CountedTier, StreamMeters } from '../../ports/observe.ts'
import type { Try } from '../routing/attempts.ts'
import type { Written, WritingProtocol } from './protocol.ts'
import type { ReportedTiers, TokenUsage } from '../../../dialects/parts.ts'
import { isPrivate } from '../routing/priced.ts'
import { outputTokens } from '../../../schemas/money/costs.ts'

/** Stands for the models of workspaces, whose names are theirs. */
const PRIVATE = 'private'

type MeteredJob = Pick<InferenceJob, 'operation' | 'startedAt' | 'models'>
type WritingTry = Pick<Try<WritingProtocol>, 'model' | 'target' | 'trail'>

/** Counts one call, streamed or whole, in the metrics. D36. */
export class MeteredCall {
  readonly #meters: StreamMeters
  readonly #now: () => number
  readonly #job: MeteredJob
  readonly #attemptedAt: number
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
    this.#attemptedAt = now()
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
