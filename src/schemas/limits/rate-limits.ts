/** Named limits of the rate limiter, each with its unit and its source. */

/** Milliseconds for which a call waits for Redis; with the delay of the event loop, this stays below the 100 ms of Design §6. */
export const RATE_WAIT_MS_MAX = 90
/**
 * Milliseconds for which a call waits for a token of its front's share while Redis is unavailable, including
 * its wait for Redis. The share begins empty, and without this wait a restart of Redis would refuse calls.
 * Decision.
 */
export const RATE_SHARE_WAIT_MS_MAX = 90
/** Milliseconds of use that a block of rate tokens covers. Design §6. */
export const RATE_BLOCK_MS = 50
/** Milliseconds of slack in the bound of a rate limit. C11, Design §6. */
export const RATE_SLACK_MS = 100
/**
 * Milliseconds after which a borrowed token is no longer used. With RATE_RETURN_MS the sum is RATE_SLACK_MS:
 * a token may be used until RATE_USE_MS after it was lent, and a return may free a token that time had
 * already freed. Design §6.
 */
export const RATE_USE_MS = 40
/** Milliseconds after which a borrowed token is no longer returned. Design §6. */
export const RATE_RETURN_MS = RATE_SLACK_MS - RATE_USE_MS
/** Keys whose rate tokens one front leases; the least recently used lease is removed first. Decision. */
export const RATE_LEASES_MAX = 50_000
/** The fewest tokens used in RATE_BLOCK_MS for which a front borrows a block in advance for a key. Design §6. */
export const RATE_PREFETCH_MIN = 8
/** Consecutive spans of RATE_BLOCK_MS with use after which a front borrows in advance for a key with less use. Design §6. */
export const RATE_STEADY_BLOCKS = 6
/** Divisor of a limit per minute; the quotient is the burst. C11. */
export const RATE_BURST_DIVISOR = 10
/** The smallest burst in requests, unless the limit per minute is lower. C11. */
export const RATE_BURST_MIN = 10
/** The largest rate limit of a key, in requests per minute. Decision. */
export const RATE_LIMIT_RPM_MAX = 1_000_000_000
/** The smallest `default_max_output_tokens`: OpenAI's Responses API refuses a lower maximum. Decision. */
export const DEFAULT_OUTPUT_TOKENS_MIN = 16
/** The largest `max_parallel`, in concurrent calls. Decision. */
export const PARALLEL_MAX = 1_000_000
/** The largest `rate_limit_tpm`, in tokens per minute. Decision. */
export const RATE_LIMIT_TPM_MAX = 1_000_000_000
/** The most answer tokens that a call takes from its token limit when it is admitted. D29. */
export const ADMITTED_OUTPUT_TOKENS_MAX = 4_096
/**
 * Milliseconds of a token limit that calls may owe in addition to one minute's burst. Use beyond the
 * estimates that exceeds this debt is forgotten, so that no key waits longer than two minutes. Decision.
 */
export const TOKENS_OWED_MS_MAX = 60_000
