import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { costNano, usdOfNano } from '../../schemas/money/costs.ts'
import { Payment, type Charge, type Spent } from './payment.ts'
import type { ModelReply, PaymentPorts } from '../ports/model-calls.ts'
import { priceAt } from '../../schemas/money/price-at.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { EmbeddingCaller, EmbeddingJob, EmbeddingsRequest } from '../ports/embeddings/embeddings.ts'
import type { Endpoint } from '../ports/models/models.ts'
import type { CostBound } from '../ports/money/money.ts'
import type { Meters } from '../ports/observe.ts'
import type { Attempting, Attempts, Try, TriedCall } from '../upstream/routing/attempts.ts'
import { CallInstants } from '../upstream/cost-bound.ts'
import type { Target } from '../upstream/routing/targets.ts'
import { callNano, costBoundOf, mostTokens } from '../upstream/embeddings/bounds.ts'
import type { InputShape } from '../upstream/embeddings/input-shape.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading } from '../upstream/embeddings/protocol.ts'
import { MISCOUNTED } from '../upstream/embeddings/read-answer.ts'
import { estimateTokens, judgeUsage } from '../upstream/embeddings/usage.ts'
import { NO_TIERS } from '../../schemas/models/price-conditions.ts'

export type EmbeddingTarget = Target<EmbeddingProtocol>

export interface SharedByCalls {
  readonly attempts: Attempts<EmbeddingProtocol>
  readonly meters: Pick<Meters, 'upstream'>
  /** Milliseconds of the same clock as the deadlines. */
  readonly now: () => number
  /** Unix milliseconds. */
  readonly unixNow: () => number
}

/** The answer of an endpoint, and its cost. */
export interface EmbeddingsResult {
  /**
   * UTF-8 JSON of the `data` array, in the requested encoding, as consecutive slices. They may be lent: see
   * `owned` in schemas/values/lent-bytes.ts.
   */
  readonly data: readonly Uint8Array[]
  readonly totalTokens: number
  readonly spent: Spent
  /** Members of the request that were not sent to the provider. */
  readonly dropped: readonly string[]
  /** Returns the bytes to the front's budget; called once when `data` was written. */
  readonly release: () => void
}

export interface RoutedEmbedding {
  readonly job: EmbeddingJob
  readonly shape: InputShape
  readonly targets: readonly EmbeddingTarget[]
  readonly shared: SharedByCalls
  readonly ports: PaymentPorts
}

/** A call to an embedding model, from its hold to its reply, with the input of its attempts. */
export class EmbeddingCall
  extends Payment<EmbeddingsResult, EmbeddingCaller>
  implements TriedCall, EmbeddingAttempt, Attempting<EmbeddingProtocol, Reading, EmbeddingsResult>
{
  readonly operation: string
  readonly model: string
  readonly bound: CostBound
  readonly request: EmbeddingsRequest
  readonly shape: InputShape
  readonly caller: Caller
  readonly hops: number
  /** Deadline of the current attempt; attempts run one after the other. */
  endsAt = 0
  readonly #id: string
  readonly #instants: CallInstants
  readonly #model: EmbeddingJob['model']
  readonly #targets: readonly EmbeddingTarget[]
  readonly #shared: SharedByCalls

  constructor({ job, shape, targets, shared, ports }: RoutedEmbedding) {
    super(job.call, ports)
    this.operation = job.operation
    this.model = job.model.id
    this.request = job.request
    this.shape = shape
    this.caller = job.caller
    this.hops = job.hops
    this.#id = job.id
    this.#model = job.model
    this.#targets = targets
    this.#shared = shared
    this.#instants = new CallInstants(shared.unixNow(), shared.now(), job.deadlineAt)
    this.bound = costBoundOf(targets, { input: job.request.input, shape, instants: this.#instants })
  }

  estimatedTokens(): number {
    const contextLength = this.#targets[0]?.endpoint.contextLength ?? null
    return estimateTokens(this.request.input, { shape: this.shape, contextLength })
  }

  protected override usedTokens({ spent }: EmbeddingsResult): number {
    return spent.tokens
  }

  protected override run(): Promise<Outcome<EmbeddingsResult>> {
    const model = this.#model
    const [first] = this.#targets
    const choices =
      first !== undefined && this.#targets.length === 1
        ? [{ model, target: first }]
        : this.#targets.map((target) => ({ model, target }))
    return this.#shared.attempts.run(this, choices, this)
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
    const { meters, now } = this.#shared
    const { contextLength } = endpoint
    const upstreamMs = now() - startedAt
    const usage = judgeUsage(reading, input, { shape: this.shape, contextLength })
    // A provider that reports too many tokens must not be rated as faster.
    const most = mostTokens(input, this.shape, contextLength)
    health.answered(upstreamMs, Math.min(usage.promptTokens, most ?? Infinity))
    meters.upstream(endpoint.provider.slug, 'ok', upstreamMs)
    const { promptTokens: tokens } = usage
    const facts = { promptTokens: tokens, at: this.#instants.at(startedAt), reported: NO_TIERS }
    const price = priceAt(endpoint, facts)
    const { promptNanoPerMillion } = price
    return {
      data: reading.data,
      totalTokens: usage.totalTokens,
      spent: {
        costNano: costNano(tokens, { promptNanoPerMillion, requestNano: callNano(price, this.shape) }),
        isByok: endpoint.ownWay !== undefined,
        isEstimated: usage.isEstimated,
        provider: endpoint.provider.slug,
        tokens,
        milliseconds: Math.round(upstreamMs),
        isUnpriced: endpoint.isUnpriced,
        attempts: trail.length + 1,
        upstreamMs,
      },
      dropped: hasHints(this.request) ? target.protocol.unsent(this.request) : NONE,
      release: reading.release,
    }
  }

  protected override ended(result: EmbeddingsResult): Outcome<ModelReply> {
    return ok(this.#replyOf(result, this.settleHold(result.spent)))
  }

  /** Builds the reply around the vectors, which are never parsed. Design §4. */
  #replyOf(result: EmbeddingsResult, charge: Charge): ModelReply {
    const { data, totalTokens, spent, dropped } = result
    // Joined once: appending each piece would allocate an object for each, and copy all of them again at the
    // end.
    const tail = [
      ',"model":',
      JSON.stringify(this.model),
      ',"id":"',
      this.#id,
      '","usage":{"prompt_tokens":',
      spent.tokens,
      ',"total_tokens":',
      totalTokens,
      ',"cost":',
      usdOfNano(charge.nano),
      spent.isByok ? ',"is_byok":true}}' : ',"is_byok":false}}',
    ].join('')
    const [first] = data
    return {
      kind: 'bytes',
      // A spread would create a list with room for seventeen.
      parts: first !== undefined && data.length === 1 ? [HEAD, first, tail] : [HEAD, ...data, tail],
      contentType: 'application/json',
      headers:
        spent.isUnpriced || spent.isEstimated || charge.isCapped || dropped.length > 0
          ? remarksOn(result, charge)
          : NO_REMARKS,
      done: result.release,
    }
  }
}

const NONE: readonly string[] = []

/** True if the request has members that an endpoint may not support; most calls have none. */
function hasHints({ user, input_type: type }: EmbeddingsRequest): boolean {
  return user !== undefined || type !== undefined
}

const HEAD = Buffer.from('{"object":"list","data":')
const NO_REMARKS: Readonly<Record<string, string>> = Object.freeze({})

/**
 * Headers with remarks: members that were not sent to the provider, an endpoint without a price, and tokens
 * that Sluice estimated or that were implausible.
 */
function remarksOn(
  { spent: { isUnpriced, isEstimated }, dropped }: EmbeddingsResult,
  { isCapped }: Charge,
): Readonly<Record<string, string>> {
  const usage = isEstimated ? 'estimated' : isCapped ? 'capped' : null
  return {
    ...(dropped.length > 0 && { 'x-sluice-dropped': dropped.join(',') }),
    ...(isUnpriced && { 'x-sluice-unpriced': 'true' }),
    ...(usage !== null && { 'x-sluice-usage': usage }),
  }
}
