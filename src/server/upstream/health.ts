/**
 * Strikes in a row that open the breaker; a time-out counts thrice, as it costs a caller its patience.
 * Decision.
 */
const STRIKES_MAX = 10
/**
 * Milliseconds that a single caller's strikes must span to open it: else one who knows an input that the
 * provider fails at would take the endpoint from all. Where others call too, one of them is answered
 * meanwhile. Decision.
 */
export const STRIKES_ALONE_MS = 10_000
/** Probes of a half-open breaker at once, each of another caller, for the same reason. Decision. */
export const PROBES_MAX = 4
export const STRIKES_OF_FAILURE = 1
export const STRIKES_OF_TIMEOUT = 3
/** Milliseconds that an open breaker rests, doubled by each failed probe. Decision. */
const REST_MS_MIN = 1_000
const REST_MS_MAX = 30_000
/**
 * Milliseconds of the longest rest where the model has no other endpoint: each rest refuses every call of the
 * model. Decision.
 */
export const REST_ALONE_MS_MAX = 2_000
/** Share of the rest that chance adds, so that fronts do not probe together. */
const REST_JITTER = 0.2
/** Answers whose speed is remembered. */
const REMEMBERED = 64

/** How long a breaker has been open, and when it lets the next probe through. Milliseconds. */
export interface OpenBreaker {
  readonly openForMs: number
  readonly probeInMs: number
}

/**
 * What one front has seen of an endpoint: how fast it answers, and whether it answers at all. The breaker
 * opens after strikes in a row, rests, and lets a round of probes through: one success closes it, and as many
 * failures make it rest longer. A round that not enough callers joined ends after that rest too.
 */
export class EndpointHealth {
  readonly #random: () => number
  readonly #latenciesMs = new Float64Array(REMEMBERED)
  readonly #tokensPerS = new Float64Array(REMEMBERED)
  #answers = 0
  #strikes = 0
  #struckSince = 0
  /** Callers of the strikes in a row: only whether they are two counts. */
  readonly #struckBy = new Set<string>()
  #restMs = 0
  #openUntil = 0
  #openedAt = 0
  #isAlone = false
  /** Callers of the round of probes, how many of them failed, and when the next round may begin. */
  readonly #probers = new Set<string>()
  #failedProbes = 0
  #nextRoundAt = Infinity

  /** @param random 0 to 1, for the jitter */
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

  /** Milliseconds until the caller may probe; 0 when that is open, or when the breaker is closed. */
  restMs(nowMs: number, caller: string): number {
    if (!this.isOpen) return 0
    const isLeftOut = this.#probers.has(caller) || this.#probers.size >= PROBES_MAX
    const until = isLeftOut && this.#nextRoundAt !== Infinity ? this.#nextRoundAt : this.#openUntil
    return Math.max(0, until - nowMs)
  }

  /** Asks to call the endpoint; whoever gets true tells the outcome by one of the methods below. */
  admit(nowMs: number, caller: string): boolean {
    if (!this.isOpen) return true
    if (nowMs < this.#openUntil) return false
    if (nowMs >= this.#nextRoundAt) this.#endRound()
    if (this.#probers.has(caller) || this.#probers.size >= PROBES_MAX) return false
    this.#probers.add(caller)
    return true
  }

  answered(latencyMs: number, tokens: number): void {
    const at = this.#answers % REMEMBERED
    this.#latenciesMs[at] = latencyMs
    this.#tokensPerS[at] = (tokens * 1_000) / Math.max(latencyMs, 0.001)
    this.#answers++
    this.alive()
  }

  /** It answered, though not with vectors: the input was at fault. */
  alive(): void {
    this.#strikes = 0
    if (this.#struckBy.size > 0) this.#struckBy.clear()
    if (this.isOpen) this.#endRound()
    this.#restMs = 0
  }

  /** @param isAlone whether the model has no other endpoint that is set up */
  struck(nowMs: number, strikes: number, caller: string, isAlone = false): void {
    this.#isAlone = isAlone
    if (this.isOpen) return this.#probeFailed(nowMs, caller)
    if (this.#strikes === 0) this.#struckSince = nowMs
    this.#strikes += strikes
    if (this.#struckBy.size < 2) this.#struckBy.add(caller)
    const isShared = this.#struckBy.size > 1 || nowMs - this.#struckSince >= STRIKES_ALONE_MS
    if (this.#strikes < STRIKES_MAX || !isShared) return
    this.#openedAt = nowMs
    this.#openUntil = this.#restFrom(nowMs)
  }

  /** Nothing was learned: the call ended before the endpoint could answer, or its input says too little. */
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

  /** Doubles the rest. */
  #restFrom(nowMs: number): number {
    const mostMs = this.#isAlone ? REST_ALONE_MS_MAX : REST_MS_MAX
    this.#restMs = Math.min(mostMs, Math.max(REST_MS_MIN, this.#restMs * 2))
    return nowMs + this.#restMs * (1 + REST_JITTER * this.#random())
  }

  /** @param percentile 0 to 100; null while nothing was measured */
  latencyMs(percentile: number): number | null {
    return percentileOf(this.#latenciesMs.subarray(0, Math.min(this.#answers, REMEMBERED)), percentile)
  }

  /** Tokens of the prompt a second that so many percent of the answers were slower than. */
  throughput(percentile: number): number | null {
    return percentileOf(this.#tokensPerS.subarray(0, Math.min(this.#answers, REMEMBERED)), percentile)
  }
}

function percentileOf(values: Float64Array, percentile: number): number | null {
  if (values.length === 0) return null
  const sorted = values.slice().sort()
  return sorted[Math.min(sorted.length - 1, Math.floor((percentile / 100) * sorted.length))] ?? null
}
