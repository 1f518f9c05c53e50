import type { Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading } from '../../ports/observe.ts'

/** A configured endpoint with everything that a call of it needs. */
export interface Target<P> {
  readonly endpoint: Endpoint
  readonly protocol: P
  readonly health: EndpointHealth
}

export interface TargetDeps<P> {
  /** Opens an endpoint; null when the endpoint is not configured, or has no protocol for such calls. */
  readonly open: (endpoint: Endpoint) => P | null
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** Endpoints, each prepared once; the same endpoint under several models and variants shares one health. */
export class TargetTable<P> {
  readonly #deps: TargetDeps<P>
  readonly #targets = new WeakMap<Endpoint, Target<P> | null>()
  readonly #health = new Map<string, EndpointHealth>()
  /** Health of private endpoints. These are created and removed at any time, and the health of one ends with it. */
  readonly #ownHealth = new WeakMap<Endpoint, EndpointHealth>()
  /** Endpoints of the catalogue whose breaker opened; a reading that finds the breaker closed removes its entry. */
  readonly #opened = new Map<string, Target<P>>()
  /** Openings of breakers since the start, by provider. */
  readonly #openings = new Map<string, number>()

  constructor(deps: TargetDeps<P>) {
    this.#deps = deps
  }

  /** Null when the endpoint is not configured, or has no protocol for such calls. */
  of(endpoint: Endpoint): Target<P> | null {
    const known = this.#targets.get(endpoint)
    if (known !== undefined) return known
    const protocol = this.#deps.open(endpoint)
    const target = protocol === null ? null : { endpoint, protocol, health: this.healthOf(endpoint) }
    this.#targets.set(endpoint, target)
    return target
  }

  healthOf(endpoint: Endpoint): EndpointHealth {
    const known =
      endpoint.ownWay === undefined ? this.#health.get(endpoint.tag) : this.#ownHealth.get(endpoint)
    if (known !== undefined) return known
    const health = new EndpointHealth(this.#deps.random)
    if (endpoint.ownWay === undefined) this.#health.set(endpoint.tag, health)
    else this.#ownHealth.set(endpoint, health)
    return health
  }

  /** True when at most one of a model's endpoints is configured. */
  isAlone(endpoints: readonly Endpoint[]): boolean {
    return endpoints.filter((endpoint) => this.of(endpoint) !== null).length < 2
  }

  /** Notes that the breaker of an endpoint opened. A private endpoint belongs to its workspace: the node's metrics do not include it. */
  opened(target: Target<P>): void {
    const { tag, provider, ownWay } = target.endpoint
    if (ownWay !== undefined) return
    this.#opened.set(tag, target)
    this.#openings.set(provider.slug, (this.#openings.get(provider.slug) ?? 0) + 1)
  }

  breakers(nowMs: number): readonly BreakerReading[] {
    return Array.from(this.#openings, ([provider, openings]) => ({
      provider,
      openings,
      open: this.#openOf(provider, nowMs),
    }))
  }

  #openOf(provider: string, nowMs: number): BreakerReading['open'] {
    const found = []
    for (const [tag, { endpoint, health }] of this.#opened) {
      if (endpoint.provider.slug !== provider) continue
      const breaker = health.breaker(nowMs)
      if (breaker === null) this.#opened.delete(tag)
      else found.push({ endpoint: tag, ...breaker })
    }
    return found
  }
}

/**
 * Consecutive strikes that open the breaker. A strike is a failure that counts against the endpoint; a timeout counts
 * as three, since it costs a caller the most time. Decision.
 */
const STRIKES_MAX = 10

/**
 * Milliseconds that the strikes of a single caller must span to open the breaker: a caller who knows an input that
 * makes the provider fail could otherwise block the endpoint for all callers. When others call too, one of them gets an
 * answer in that time. Decision.
 */
export const STRIKES_ALONE_MS = 10_000

/** Concurrent probes of a half-open breaker. Each probe belongs to another caller, so that no single caller decides. Decision. */
export const PROBES_MAX = 4

export const STRIKES_OF_FAILURE = 1

export const STRIKES_OF_TIMEOUT = 3

/** First pause of an open breaker in milliseconds; each failed probe doubles the pause. Decision. */
const REST_MS_MIN = 1_000

/** Longest pause of an open breaker in milliseconds. Decision. */
const REST_MS_MAX = 30_000

/** Longest pause in milliseconds when the model has no other endpoint: during a pause every call of the model is refused. Decision. */
export const REST_ALONE_MS_MAX = 2_000

/** Share of the pause that is added at random, so that fronts do not probe together. */
const REST_JITTER = 0.2

/** Responses whose speed is kept. */
const REMEMBERED = 64

/** Milliseconds for which a breaker has been open, and milliseconds until the next probe. */
export interface OpenBreaker {
  readonly openForMs: number
  readonly probeInMs: number
}

/**
 * One front's measurements of an endpoint: the speed of its responses, and its circuit breaker. The breaker opens after
 * consecutive strikes, pauses, and then admits a round of probes: one success closes the breaker, and the pause is
 * extended when all probes fail. A round with too few callers also ends after that pause.
 */
export class EndpointHealth {
  readonly #random: () => number
  readonly #latenciesMs = new Float64Array(REMEMBERED)
  readonly #tokensPerS = new Float64Array(REMEMBERED)
  #answers = 0
  #strikes = 0
  #strikesSince = 0
  /** Callers of the consecutive strikes; it matters only whether it was one or several. */
  readonly #strikers = new Set<string>()
  #restMs = 0
  #openUntil = 0
  #openedAt = 0
  #isAlone = false
  readonly #probers = new Set<string>()
  #failedProbes = 0
  /** Milliseconds at which the next round may begin. */
  #nextRoundAt = Infinity

  /** @param random a number from 0 to 1, for the jitter */
  constructor(random: () => number) {
    this.#random = random
  }

  get isOpen(): boolean {
    return this.#restMs > 0
  }

  /** Null while the breaker is closed. `probeInMs` is 0 when the next call probes the endpoint. */
  breaker(nowMs: number): OpenBreaker | null {
    return this.isOpen
      ? { openForMs: nowMs - this.#openedAt, probeInMs: Math.max(0, this.#openUntil - nowMs) }
      : null
  }

  /** Milliseconds until the caller may probe; 0 when the caller may probe now, or when the breaker is closed. */
  restMs(nowMs: number, caller: string): number {
    if (!this.isOpen) return 0
    const isLeftOut = this.#probers.has(caller) || this.#probers.size >= PROBES_MAX
    const until = isLeftOut && this.#nextRoundAt !== Infinity ? this.#nextRoundAt : this.#openUntil
    return Math.max(0, until - nowMs)
  }

  /** Admits a call to the endpoint. After true the caller reports the outcome by one of the methods below. */
  admit(nowMs: number, caller: string): boolean {
    if (!this.isOpen) return true
    if (nowMs < this.#openUntil) return false
    if (nowMs >= this.#nextRoundAt) this.#endRound()
    if (this.#probers.has(caller) || this.#probers.size >= PROBES_MAX) return false
    this.#probers.add(caller)
    return true
  }

  /**
   * @param latencyMs milliseconds until the answer, or until its first output
   * @param tokens of the embedded prompt, or of the written text
   * @param wholeMs milliseconds until the end
   */
  answered(latencyMs: number, tokens: number, wholeMs = latencyMs): void {
    const at = this.#answers % REMEMBERED
    this.#latenciesMs[at] = latencyMs
    this.#tokensPerS[at] = (tokens * 1_000) / Math.max(wholeMs, 0.001)
    this.#answers++
    this.alive()
  }

  /** Reports a response without vectors: the endpoint answered, and the input was at fault. */
  alive(): void {
    this.#strikes = 0
    if (this.#strikers.size > 0) this.#strikers.clear()
    if (this.isOpen) this.#endRound()
    this.#restMs = 0
  }

  /** @param isAlone whether the model has no other configured endpoint */
  strike(nowMs: number, strikes: number, caller: string, isAlone = false): void {
    this.#isAlone = isAlone
    if (this.isOpen) return this.#probeFailed(nowMs, caller)
    if (this.#strikes === 0) this.#strikesSince = nowMs
    this.#strikes += strikes
    if (this.#strikers.size < 2) this.#strikers.add(caller)
    const isShared = this.#strikers.size > 1 || nowMs - this.#strikesSince >= STRIKES_ALONE_MS
    if (this.#strikes < STRIKES_MAX || !isShared) return
    this.#openedAt = nowMs
    this.#openUntil = this.#restFrom(nowMs)
  }

  /**
   * Reports an outcome that says nothing about the endpoint: the call ended before the endpoint could answer, or its
   * input was a special case.
   */
  unknown(caller: string): void {
    this.#probers.delete(caller)
  }

  #probeFailed(nowMs: number, caller: string): void {
    if (!this.#probers.has(caller)) return
    if (++this.#failedProbes === 1) this.#nextRoundAt = this.#restFrom(nowMs)
    if (this.#failedProbes < PROBES_MAX) return
    this.#openUntil = this.#nextRoundAt
    this.#endRound()
  }

  #endRound(): void {
    this.#probers.clear()
    this.#failedProbes = 0
    this.#nextRoundAt = Infinity
  }

  /** Doubles the pause and returns its end. */
  #restFrom(nowMs: number): number {
    const mostMs = this.#isAlone ? REST_ALONE_MS_MAX : REST_MS_MAX
    this.#restMs = Math.min(mostMs, Math.max(REST_MS_MIN, this.#restMs * 2))
    return nowMs + this.#restMs * (1 + REST_JITTER * this.#random())
  }

  /** @param percentile 0 to 100 @returns null before the first measurement */
  latencyMs(percentile: number): number | null {
    return percentileOf(this.#latenciesMs.subarray(0, Math.min(this.#answers, REMEMBERED)), percentile)
  }

  /** Tokens a second. The percentile gives the share of responses that were slower. */
  throughput(percentile: number): number | null {
    return percentileOf(this.#tokensPerS.subarray(0, Math.min(this.#answers, REMEMBERED)), percentile)
  }
}

function percentileOf(values: Float64Array, percentile: number): number | null {
  if (values.length === 0) return null
  const sorted = values.slice().sort()
  return sorted[Math.min(sorted.length - 1, Math.floor((percentile / 100) * sorted.length))] ?? null
}
