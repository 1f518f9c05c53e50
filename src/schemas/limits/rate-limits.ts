/** Named limits of rate limits, each with its unit and its source. */

/** Milliseconds that a call waits for Redis: with the loop's own delay, below the 100 ms of Design §6. */
export const RATE_WAIT_MS_MAX = 90
/**
 * Milliseconds that a call waits for a request of its front's share while Redis is away, its wait for Redis
 * included: the share begins empty, and refused calls would be the first sign of a restarted Redis. Decision.
 */
export const RATE_SHARE_WAIT_MS_MAX = 90
/** Milliseconds of use that a block of rate tokens covers. Design §6. */
export const RATE_BLOCK_MS = 50
/** Milliseconds of slack in the bound of a rate limit. C11, Design §6. */
export const RATE_SLACK_MS = 100
/**
 * Milliseconds after which a borrowed token is no longer used. With RATE_RETURN_MS the sum is RATE_SLACK_MS:
 * a token may be used RATE_USE_MS after it was lent, and a return may free what time had freed already.
 * Design §6.
 */
export const RATE_USE_MS = 40
/** Milliseconds after which a borrowed token is no longer returned. Design §6. */
export const RATE_RETURN_MS = RATE_SLACK_MS - RATE_USE_MS
/** Keys whose rate tokens one front leases; the least recently used lease goes first. Decision. */
export const RATE_LEASES_MAX = 50_000
/** Tokens used in RATE_BLOCK_MS from which a front borrows a block ahead for a key. Design §6. */
export const RATE_PREFETCH_MIN = 8
/** Spans of RATE_BLOCK_MS in a row with use from which a front borrows ahead for a key of lower use. Design §6. */
export const RATE_STEADY_BLOCKS = 6
/** Divisor of a minute's limit: the quotient may come at once. C11. */
export const RATE_BURST_DIVISOR = 10
/** Requests that may come at once at least, unless a minute's limit is lower. C11. */
export const RATE_BURST_MIN = 10
/** Requests a minute of a key's limit. Decision. */
export const RATE_LIMIT_RPM_MAX = 1_000_000_000
/** Tokens of `default_max_output_tokens`, at least: OpenAI's responses refuse a lower maximum. Decision. */
export const DEFAULT_OUTPUT_TOKENS_MIN = 16
/** Calls under way of `max_parallel`. Decision. */
export const PARALLEL_MAX = 1_000_000
/** Tokens a minute of `rate_limit_tpm`. Decision. */
export const RATE_LIMIT_TPM_MAX = 1_000_000_000
/** Tokens of an answer that a call takes of its limit of tokens at its admission, at most. D29. */
export const ADMITTED_OUTPUT_TOKENS_MAX = 4_096
/**
 * Milliseconds of a limit of tokens that calls may owe beyond a minute's burst: what a call uses beyond its
 * estimate is forgotten above it, so that no key waits longer than two minutes. Decision.
 */
export const TOKENS_OWED_MS_MAX = 60_000
