/** All durations are by the authority's own clock. */
export interface RateGrant {
  /** From 0 to the tokens wanted. */
  readonly granted: number
  /** Tokens that the authority could still lend at this instant. */
  readonly remaining: number
  /** Milliseconds until one more token is free; 0 when everything was granted. */
  readonly retryAfterMs: number
  /** Milliseconds until the window is empty again (the full burst is free). */
  readonly resetAfterMs: number
}

export interface RateInput {
  /** Hash of the API key, or the name of another owner of tokens. */
  readonly key: string
  readonly limitRpm: number
  /** Tokens that may come at once; may be a fraction. */
  readonly burst: number
  /** Tokens wanted, at least 1. The authority grants all, or what is left, or nothing. */
  readonly want: number
  /** Unused tokens of an earlier block, which go back first; negative: tokens spent while the authority was away. */
  readonly giveBack: number
  /** Milliseconds that the oldest waiting request may still wait. */
  readonly waitMsMax: number
}

/** GCRA, one step in Redis. Rejects when Redis is not reached in time; the front's token lease decides then. */
export interface RateAuthority {
  lend(ask: RateInput): Promise<RateGrant>
  /** False while Redis is known to be away (breaker open), so that no call needs to wait to find out. */
  readonly isReachable: boolean
  /** Monotonic milliseconds of the last answer to any request of this process. */
  readonly lastAnswerAt: number
}

/** Number of fronts that share the limits, last seen in the store; at least 1. */
export interface FrontCount {
  readonly liveFronts: number
}

/** Lent by an authority. Rates and money share no implementation: a rate token frees itself with time, money never does. */
export interface LocalBalance<Ask, Taken> {
  /** Returns at once while the balance, or a known refusal, lasts; null = call `refill`. */
  take(ask: Ask): Taken | null
  /** Waits for the authority: single-flight, and those of one event-loop tick go out together. Never rejects. */
  refill(ask: Ask): Taken | Promise<Taken>
  /** Empties the balance. @param now monotonic milliseconds @returns the amount that goes back */
  giveBack(now: number): number
}
