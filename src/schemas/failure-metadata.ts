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

/** Facts that a failure may report to the caller in addition to its text. */
export interface FailureMetadata {
  readonly issues?: readonly Issue[]
  /** Line of the place where a body stops being JSON, counted from 1. */
  readonly line?: number
  /** Column of that place in characters, counted from 1. */
  readonly column?: number
  /** Byte offset of that place in the body, counted from 0. */
  readonly offset?: number
  readonly provider_name?: string
  readonly provider_code?: string
  /** The member of its request that the provider refuses, by the provider's name. */
  readonly provider_param?: string
  readonly previous_errors?: readonly PreviousError[]
  readonly limit_source?: string
  /** The unit of a rate limit. */
  readonly limit_kind?: 'requests' | 'tokens' | 'parallel'
  /** Tokens that the call was expected to use. */
  readonly estimated_tokens?: number
  /** The kind of the limit's owner: `organization`, `workspace`, `key`. */
  readonly scope?: string
  readonly limit?: number
  /** Spend so far that counts against the limit, in the limit's unit. */
  readonly spend?: number
  /** USD of the limit that running calls have reserved. */
  readonly held?: number
  /** The most USD that the refused call may cost. */
  readonly max_cost?: number
  /** For a spending limit: `daily`, `weekly`, `monthly`, `lifetime`. */
  readonly interval?: string
  readonly reset_at?: string
  /** The most tokens of an answer that the remaining money covers; only in refusals for lack of money. */
  readonly affordable_output_tokens?: number
  /** The token maximum that was assumed because the request named none. */
  readonly default_max_output_tokens?: number
  readonly headers?: Readonly<Record<string, string>>
}
