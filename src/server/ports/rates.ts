/** All durations are by the authority's own clock. */
export interface RateGrant {
  /** From 0 to the tokens wanted. */
  readonly granted: number
  /** Tokens that the authority could still lend at this moment. */
  readonly remaining: number
  /** Milliseconds until one more token is free; 0 when everything was granted. */
  readonly retryAfterMs: number
  /** Milliseconds until the full burst is available again. */
  readonly resetAfterMs: number
}

export interface RateInput {
  /** Hash of the API key, or the name of another owner of tokens. */
  readonly key: string
  readonly limitRpm: number
  /** Tokens that may be used at once; may be a fraction. */
  readonly burst: number
  /** Tokens wanted, at least 1. The authority grants all, the available part, or nothing. */
  readonly want: number
  /** Unused tokens of an earlier block, which are returned first; negative: tokens used while the authority was unavailable. */
  readonly giveBack: number
  /** Milliseconds that the oldest waiting request may still wait. */
  readonly waitMsMax: number
}

/** Runs one GCRA step in Redis. Rejects when Redis does not answer in time; then the front's own token lease decides. */
export interface RateAuthority {
  lend(ask: RateInput): Promise<RateGrant>
  /** False while Redis is known to be unavailable (breaker open), so that no call has to wait for a timeout. */
  readonly isReachable: boolean
  /** Monotonic milliseconds of the last answer to any request of this process. */
  readonly lastAnswerAt: number
}

/** Number of fronts that share the limits, as last read from the store; at least 1. */
export interface FrontCount {
  readonly liveFronts: number
}

/** A balance lent by an authority. Rates and money have separate implementations: rate tokens become free with time, money never does. */
export interface LocalBalance<Ask, Taken> {
  /** Returns at once while the balance suffices or a known refusal is in effect; null = call `refill`. */
  take(ask: Ask): Taken | null
  /** Waits for the authority: one request at a time, with all refills of one event-loop tick. Never rejects. */
  refill(ask: Ask): Taken | Promise<Taken>
  /** Empties the balance. @param now monotonic milliseconds @returns the amount to return to the authority */
  giveBack(now: number): number
}
