import { burstOf } from '../../../src/schemas/values/rate-burst.ts'
import { createAdmission, type Admission } from '../../../src/server/limits/admission.ts'
import type { Admitted } from '../../../src/server/limits/admitted.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { RateInput, RateAuthority, RateGrant } from '../../../src/server/ports/rates.ts'
import { NO_LIMITS } from '../money/key-money.ts'

/** Events in the order of a clock that only they move. */
export class Simulation {
  now = 0
  readonly #events: { at: number; n: number; run: () => void }[] = []
  #n = 0

  /** Runs `work` after `ms` simulated milliseconds; at the same instant in the order of asking. */
  after(ms: number, work: () => void): void {
    const event = { at: this.now + Math.max(0, ms), n: (this.#n += 1), run: work }
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#events[middle]
      if (other !== undefined && (other.at < event.at || (other.at === event.at && other.n < event.n)))
        low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
  }

  /** Runs events until the clock reads `end`, letting promises settle after each. */
  async runUntil(end: number): Promise<void> {
    for (let next = this.#events[0]; next !== undefined && next.at <= end; next = this.#events[0]) {
      this.#events.shift()
      this.now = next.at
      next.run()
      // One turn of the real loop lets every promise settle; the test runner watches each `await`, so it is
      // one.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.now = Math.max(this.now, end)
  }
}

/** A repeatable stream of numbers from 0 to below 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * The authority as the contract describes it, written apart from the Lua step: a count of tokens that fills
 * with time (the same rule as GCRA, in its other form).
 */
export class ModelRedis {
  mode: 'up' | 'down' | 'stalled' = 'up'
  /** Requests that it was sent. */
  steps = 0
  readonly #simulation: Simulation
  readonly #latency: () => number
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  /** @param latency simulated milliseconds of one way */
  constructor(simulation: Simulation, latency: () => number) {
    this.#simulation = simulation
    this.#latency = latency
  }

  /** Loses what it knows, as FLUSHALL does. */
  forget(): void {
    this.#buckets.clear()
  }

  /** One front's view, with a breaker and heartbeats of its own, the first after `phaseMs`. */
  connect(phaseMs = 0): RateAuthority {
    let isTripped = false
    let lastAnswerAt = 0
    const simulation = this.#simulation
    const beat = (): void => {
      if (this.mode === 'up') {
        isTripped = false
        lastAnswerAt = simulation.now
      }
      simulation.after(250, beat)
    }
    simulation.after(phaseMs, beat)
    const isReachable = (): boolean => this.mode !== 'down' && !isTripped
    return {
      get isReachable() {
        return isReachable()
      },
      get lastAnswerAt() {
        return lastAnswerAt
      },
      lend: (ask) =>
        new Promise((resolve, reject) => {
          this.steps += 1
          if (this.mode === 'down') return reject(new Error('away'))
          let isSettled = false
          simulation.after(ask.waitMsMax, () => {
            if (isSettled) return
            isSettled = true
            isTripped = true
            reject(new Error('too slow'))
          })
          simulation.after(this.#latency(), () => {
            if (this.mode !== 'up') return
            const grant = this.#step(ask)
            simulation.after(this.#latency(), () => {
              if (isSettled) return
              isSettled = true
              lastAnswerAt = simulation.now
              resolve(grant)
            })
          })
        }),
    }
  }

  #step({ key, limitRpm, burst, want, giveBack }: RateInput): RateGrant {
    const { now } = this.#simulation
    const perMs = limitRpm / 60_000
    const known = this.#buckets.get(key) ?? { tokens: burst, at: now }
    const filled = Math.min(burst, known.tokens + (now - known.at) * perMs)
    const tokens = Math.max(0, Math.min(burst, filled + giveBack))
    const granted = Math.min(want, Math.floor(tokens + 1e-6))
    const left = tokens - granted
    this.#buckets.set(key, { tokens: left, at: now })
    return {
      granted,
      remaining: Math.floor(left + 1e-6),
      retryAfterMs: granted < want ? Math.max(1, Math.ceil((1 - left) / perMs)) : 0,
      resetAfterMs: Math.ceil((burst - left) / perMs),
    }
  }
}

/** Several fronts before one Redis. */
export function openFronts(simulation: Simulation, redis: ModelRedis, count: number): readonly Admission[] {
  return Array.from({ length: count }, (_, i) =>
    createAdmission({
      authority: redis.connect(i * 77),
      fronts: { liveFronts: count },
      leasesMax: 100,
      now: () => simulation.now,
      epochNow: () => 1_700_000_000_000 + simulation.now,
      schedule: (flush) => simulation.after(0, flush),
      later: (run, ms) => simulation.after(ms, run),
    }),
  )
}

export function keyOf(
  rateLimitRpm: number | null,
  hash = 'k'.repeat(64),
  rateLimitBurst: number | null = null,
): KeyRecord {
  return {
    hash,
    kind: 'inference',
    name: 'test',
    organizationId: 'o',
    workspaceId: 'w',
    defaultWorkspaceId: 'w',
    internId: null,
    rateLimitRpm,
    rateLimitBurst,
    isDisabled: false,
    isInProgramme: true,
    mayWriteVault: true,
    expiresAtMs: null,
    allowedModels: null,
    scopes: null,
    money: NO_LIMITS,
  }
}

/** Calls `reported` in the same turn when the answer is no promise. */
export function whenAnswered(
  answer: Admitted | Promise<Admitted>,
  reported: (answer: Admitted) => void,
): void {
  if (answer instanceof Promise) void answer.then(reported)
  else reported(answer)
}

/** A call of the real clock: it was admitted at some instant between the two. */
export interface Span {
  readonly startedAt: number
  readonly endedAt: number
}

/** As `excessOf`, for calls whose instant is not known: one counts for a window when it lies in it whole. */
export function excessOfSpans(
  spans: readonly Span[],
  limitRpm: number,
  slackMs: number,
  burst = burstOf(limitRpm),
): number {
  const perMs = limitRpm / 60_000
  const byEnd = [...spans].sort((a, b) => a.endedAt - b.endedAt)
  let excess = -Infinity
  for (const { startedAt: from } of spans) {
    let count = 0
    for (const { startedAt, endedAt } of byEnd) {
      if (startedAt < from) continue
      count += 1
      excess = Math.max(excess, count - (endedAt - from + slackMs) * perMs)
    }
  }
  return excess - burst
}

/**
 * By how many calls the busiest window exceeds limit × (W + slack) + burst; at most 0 when the bound holds.
 * @param instants of admission in milliseconds, ascending
 */
export function excessOf(
  instants: readonly number[],
  limitRpm: number,
  slackMs: number,
  burst = burstOf(limitRpm),
): number {
  const perMs = limitRpm / 60_000
  let lowest = Infinity
  let excess = -Infinity
  for (const [i, at] of instants.entries()) {
    lowest = Math.min(lowest, i - at * perMs)
    excess = Math.max(excess, i + 1 - at * perMs - lowest)
  }
  return excess - slackMs * perMs - burst
}
