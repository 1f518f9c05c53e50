/** Named limits of rate, each once, with its unit and its source. */

/** Milliseconds of the caller's wait for Redis: with what the loop adds, under the 100 of design §6. */
export const RATE_WAIT_MS_MAX = 90
/** Milliseconds of use that a rate block covers, and the rate limit's slack in C11's bound. Design §6. */
export const RATE_BLOCK_MS = 50
export const RATE_SLACK_MS = 100
/**
 * Milliseconds after which a lent token is no longer used, and no longer returned. Their sum is the slack: a
 * token may be used that much after it was lent, and a return may free what time had freed already.
 */
export const RATE_USE_MS = 40
export const RATE_RETURN_MS = RATE_SLACK_MS - RATE_USE_MS
/** Rate purses of one front; the least recently used goes first. Decision. */
export const RATE_PURSES_MAX = 50_000
/**
 * Tokens below which no block is lent ahead, but to a key that was in use in so many spans of RATE_BLOCK_MS
 * in a row. Design §6.
 */
export const RATE_PREFETCH_MIN = 8
export const RATE_STEADY_BLOCKS = 6
/** Share of a minute's limit that may come at once. C11. */
export const RATE_BURST_DIVISOR = 10
/** Largest limit of a key, in requests a minute. Decision. */
export const RATE_LIMIT_RPM_MAX = 1_000_000_000
