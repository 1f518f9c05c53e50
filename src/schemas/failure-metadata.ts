/** A fault of an input, never with the offending value. */
export interface Issue {
  /** JSON pointer from the root of the checked value; the empty string is the root itself. */
  readonly path: string
  readonly message: string
  readonly expected: string
}

export interface PreviousError {
  readonly provider: string
  readonly code: string
  readonly status: number | null
}

/** The facts that a failure may give the caller in addition to its text. */
export interface FailureMetadata {
  readonly issues?: readonly Issue[]
  /** The place where a body stops being JSON: its line, from 1 on. */
  readonly line?: number
  /** Of that place, in characters of its line, from 1 on. */
  readonly column?: number
  /** Of that place, in bytes of the body, from 0 on. */
  readonly offset?: number
  readonly provider_name?: string
  readonly provider_code?: string
  /** The member of the provider's request that it refuses, in its own words. */
  readonly provider_param?: string
  readonly previous_errors?: readonly PreviousError[]
  readonly limit_source?: string
  /** The unit of a limit of calls. */
  readonly limit_kind?: 'requests' | 'tokens' | 'parallel'
  /** Tokens that the call was expected to use. */
  readonly estimated_tokens?: number
  /** The kind of the limit's owner: `organization`, `workspace`, `key`. */
  readonly scope?: string
  readonly limit?: number
  /** Spend so far that counts against the limit, in the limit's unit. */
  readonly spend?: number
  /** USD of a limit that calls under way hold. */
  readonly held?: number
  /** USD that the refused call may cost at most. */
  readonly max_cost?: number
  /** For a limit of money: `daily`, `weekly`, `monthly`, `lifetime`. */
  readonly interval?: string
  readonly reset_at?: string
  /** The most tokens of an answer that there is money for; refusals for want of money have it. */
  readonly affordable_output_tokens?: number
  /** What stood for the maximum of the answer, which the request did not name. */
  readonly default_max_output_tokens?: number
  readonly headers?: Readonly<Record<string, string>>
}
