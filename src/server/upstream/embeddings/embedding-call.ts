import { priceAt } from '../../../schemas/money/price-at.ts'
import { NO_TIERS } from '../../../schemas/money/tiers.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type {
  EmbeddingJob,
  EmbeddingPlan,
  EmbeddingsRequest,
  EmbeddingsResult,
} from '../../ports/embeddings/embeddings.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { CostBound } from '../../ports/money/money.ts'
import type { Meters } from '../../ports/observe.ts'
import type { Attempting, Attempts, Try, TriedCall } from '../routing/attempts.ts'
import { CallInstants } from '../cost-bound.ts'
import type { Target } from '../routing/targets.ts'
import { callNano, costBoundOf, mostTokens } from './bounds.ts'
import type { InputShape } from './input-shape.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading } from './protocol.ts'
import { MISCOUNTED } from './read-answer.ts'
import { estimateTokens, judgeUsage } from './usage.ts'

export type EmbeddingTarget = Target<EmbeddingProtocol>

/** What all calls of an embedder share. */
export interface SharedByCalls {
  readonly attempts: Attempts<EmbeddingProtocol>
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** Unix milliseconds. */
  readonly unixNow: () => number
}

interface ChosenTargets {
  readonly targets: readonly EmbeddingTarget[]
  readonly embedder: SharedByCalls
}

/**
 * One call whose endpoints are chosen: the plan, its attempts and what an attempt is asked. One object with
 * methods, since an object and its functions for each of these were a kilobyte of garbage a call.
 */
export class EmbeddingCall
  implements
    EmbeddingPlan,
    TriedCall,
    EmbeddingAttempt,
    Attempting<EmbeddingProtocol, Reading, EmbeddingsResult>
{
  readonly bound: CostBound
  readonly request: EmbeddingsRequest
  readonly shape: InputShape
  readonly deadlineAt: number
  readonly caller: Caller
  readonly requestId: string | null
  readonly hops: number
  readonly call: EmbeddingJob['call']
  /** Of the attempt under way; attempts follow each other. */
  endsAt = 0
  readonly #instants: CallInstants
  readonly #model: EmbeddingJob['model']
  readonly #targets: readonly EmbeddingTarget[]
  readonly #embedder: SharedByCalls

  constructor(job: EmbeddingJob, shape: InputShape, { targets, embedder }: ChosenTargets) {
    this.request = job.request
    this.shape = shape
    this.deadlineAt = job.deadlineAt
    this.caller = job.caller
    this.requestId = job.requestId ?? null
    this.hops = job.hops ?? 0
    this.call = job.call
    this.#model = job.model
    this.#targets = targets
    this.#embedder = embedder
    this.#instants = new CallInstants(embedder.unixNow(), embedder.now(), job.deadlineAt)
    this.bound = costBoundOf(targets, { input: job.request.input, shape, instants: this.#instants })
  }

  estimatedTokens(): number {
    const contextLength = this.#targets[0]?.endpoint.contextLength ?? null
    return estimateTokens(this.request.input, { shape: this.shape, contextLength })
  }

  run(): Promise<Outcome<EmbeddingsResult>> {
    const model = this.#model
    const [first] = this.#targets
    const choices =
      first !== undefined && this.#targets.length === 1
        ? [{ model, target: first }]
        : this.#targets.map((target) => ({ model, target }))
    return this.#embedder.attempts.run(this, choices, this)
  }

  endsAtOf({ provider }: Endpoint, startedAt: number): number {
    return startedAt + provider.timeoutMs
  }

  attempt({ target, endsAt }: Try<EmbeddingProtocol>): Promise<Outcome<Reading>> {
    this.endsAt = Math.min(endsAt, this.deadlineAt)
    return target.protocol.embed(this)
  }

  isInnocent({ cause }: Failure): boolean {
    return cause === MISCOUNTED
  }

  answered(reading: Reading, { target, startedAt, trail }: Try<EmbeddingProtocol>): EmbeddingsResult {
    const { endpoint, health } = target
    const { input } = this.request
    const { meters, now } = this.#embedder
    const { contextLength } = endpoint
    const upstreamMs = now() - startedAt
    const usage = judgeUsage(reading, input, { shape: this.shape, contextLength })
    // A provider that reports too many tokens must not count as faster.
    const most = mostTokens(input, this.shape, contextLength)
    health.answered(upstreamMs, Math.min(usage.promptTokens, most ?? Infinity))
    meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
    const { promptTokens } = usage
    const price = priceAt(endpoint, { promptTokens, at: this.#instants.at(startedAt), reported: NO_TIERS })
    return {
      data: reading.data,
      promptTokens,
      totalTokens: usage.totalTokens,
      isEstimated: usage.isEstimated,
      provider: endpoint.provider.slug,
      dropped: hasHints(this.request) ? target.protocol.unsent(this.request) : NONE,
      promptNanoPerMillion: price.promptNanoPerMillion,
      requestNano: callNano(price, this.shape),
      isUnpriced: endpoint.isUnpriced,
      isByok: endpoint.ownWay !== undefined,
      attempts: trail.length + 1,
      previousErrors: trail.errors,
      upstreamMs,
      release: reading.release,
    }
  }
}

const NONE: readonly string[] = []

/** Most calls have none of the members that an endpoint may lack. */
function hasHints({ user, input_type: type }: EmbeddingsRequest): boolean {
  return user !== undefined || type !== undefined
}
