/** Strikes in a row that open the breaker; a time-out counts thrice, as it costs a caller its patience. Decision. */
const STRIKES_MAX = 10
export const STRIKES_OF_FAILURE = 1
export const STRIKES_OF_TIMEOUT = 3
/** Milliseconds that an open breaker rests, doubled by each failed probe. Decision. */
const REST_MS_MIN = 1_000
const REST_MS_MAX = 30_000
/** Share of the rest that chance adds, so that fronts do not probe together. */
const REST_JITTER = 0.2
/** Answers whose speed is remembered. */
const REMEMBERED = 64

/**
 * What one front has seen of an endpoint: how fast it answers, and whether it answers at all. The breaker opens
 * after strikes in a row, rests, and lets a single probe through, which closes it or makes it rest longer.
 */
export class EndpointHealth {
  readonly #random: () => number
  readonly #latenciesMs = new Float64Array(REMEMBERED)
  readonly #tokensPerS = new Float64Array(REMEMBERED)
  #answers = 0
  #strikes = 0
  #restMs = 0
  #openUntil = 0
  #isProbing = false

  /** @param random 0 to 1, for the jitter */
  constructor(random: () => number) {
    this.#random = random
  }

  get isOpen(): boolean {
    return this.#restMs > 0
  }

  /** Milliseconds until a probe may go out; 0 when one may, or when the breaker is closed. */
  restMs(nowMs: number): number {
    return this.isOpen ? Math.max(0, this.#openUntil - nowMs) : 0
  }

  /** Asks to call the endpoint; whoever gets true tells the outcome by one of the three methods below. */
  admit(nowMs: number): boolean {
    if (!this.isOpen) return true
    if (this.#isProbing || nowMs < this.#openUntil) return false
    this.#isProbing = true
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
    this.#restMs = 0
    this.#isProbing = false
  }

  struck(nowMs: number, strikes: number): void {
    this.#strikes += strikes
    const wasProbe = this.#isProbing
    this.#isProbing = false
    if (!wasProbe && (this.isOpen || this.#strikes < STRIKES_MAX)) return
    this.#restMs = Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, this.#restMs * 2))
    this.#openUntil = nowMs + this.#restMs * (1 + REST_JITTER * this.#random())
  }

  /** Nothing was learned: the call ended before the endpoint could answer. */
  unknown(): void {
    this.#isProbing = false
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
