/** Answer of the authority to a request for a block of rate tokens. All instants are its own clock. */
export interface RateGrant {
  /** 0 when refused. */
  readonly granted: number
  /** Tokens that the authority could still lend at this instant. */
  readonly remaining: number
  /** Milliseconds until one token is free; 0 when granted. */
  readonly retryAfterMs: number
  /** Milliseconds until the window is empty again (the full burst is free). */
  readonly resetAfterMs: number
}

export interface RateAsk {
  /** Hash of the API key. */
  readonly key: string
  readonly limitRpm: number
  /** Tokens wanted, at least 1. The authority grants all, or what is left, or nothing. */
  readonly want: number
  /** Unused tokens of an earlier block that go back first. */
  readonly giveBack: number
}

/** Lends rate tokens: GCRA, one step in Redis. Rejects when it cannot be reached; the purse decides what then. */
export interface RateAuthority {
  lend(ask: RateAsk): Promise<RateGrant>
  /** False while Redis is known to be away (breaker open): nobody needs to wait to find out. */
  readonly isReachable: boolean
}

/** How many fronts share the limits, last seen in the store; at least 1. */
export interface FrontCount {
  readonly liveFronts: number
}
