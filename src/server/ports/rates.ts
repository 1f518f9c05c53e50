/** Answer of the authority to a request for a block of rate tokens. All spans are by its own clock. */
export interface RateGrant {
  /** From 0 to what was wanted. */
  readonly granted: number
  /** Tokens that the authority could still lend at this instant. */
  readonly remaining: number
  /** Milliseconds until one more token is free; 0 when everything was granted. */
  readonly retryAfterMs: number
  /** Milliseconds until the window is empty again (the full burst is free). */
  readonly resetAfterMs: number
}

export interface RateAsk {
  /** Hash of the API key, or whose else the tokens are. */
  readonly key: string
  readonly limitRpm: number
  /** Tokens that may come at once; left out: the share of a minute that callers have. C11. */
  readonly burst?: number
  /** Tokens wanted, at least 1. The authority grants all, or what is left, or nothing. */
  readonly want: number
  /**
   * Unused tokens of an earlier block that go back first; negative: tokens spent while the authority was
   * away.
   */
  readonly giveBack: number
  /** Milliseconds that the oldest waiting request may still wait. */
  readonly waitMsMax: number
}

/**
 * Lends rate tokens: GCRA, one step in Redis. Rejects when it cannot be reached in time; the purse decides
 * what then.
 */
export interface RateAuthority {
  lend(ask: RateAsk): Promise<RateGrant>
  /** False while Redis is known to be away (breaker open): nobody needs to wait to find out. */
  readonly isReachable: boolean
  /** Monotonic milliseconds of its last answer to anybody in this process. */
  readonly lastAnswerAt: number
}

/** How many fronts share the limits, last seen in the store; at least 1. */
export interface FrontCount {
  readonly liveFronts: number
}
