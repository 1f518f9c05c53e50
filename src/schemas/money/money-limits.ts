/** Named limits of money, each with its unit and its source. */

/** USD of a budget, of a key's limit, of a top-up and of all credit: nine times their nano-USD fit a `bigint`. Decision. */
export const USD_MAX = 1_000_000_000
/**
 * Nano-USD that one call costs at most, 9 million USD: numbers are exact up to there. Workspaces set the
 * prices of their own endpoints. Decision.
 */
export const COST_NANO_MAX = Number.MAX_SAFE_INTEGER
/**
 * Milliseconds that a change of a limit waits until the fronts have applied it before its answer says
 * `pending`; a hint takes a few milliseconds. Decision.
 */
export const LIMITS_APPLIED_WAIT_MS_MAX = 500
/** Characters of the note of a top-up. Decision. */
export const CREDIT_NOTE_CHARS_MAX = 500
/** Days of activity that one read may span, first and last day included. Decision. */
export const ACTIVITY_DAYS_MAX = 366
/** Days of activity that a read spans when the request names none. Decision. */
export const ACTIVITY_DAYS_DEFAULT = 30
/** Rows of a page of activity when the request names no number. Decision. */
export const ACTIVITY_PAGE_DEFAULT = 100

/** Milliseconds that a front waits for the authority to close a journal. Decision. */
export const CLOSE_MS_MAX = 30_000

/**
 * Milliseconds in which a call tries again while other fronts hold the money that it needs. Design §6.6;
 * Decision.
 */
export const MONEY_TRIED_MS_MAX = 500
/** Milliseconds between two attempts of a call to get money that other fronts hold. Design §6.6; Decision. */
export const MONEY_TRY_MS = 75
/** Milliseconds until a request for money or a flush without an answer is repeated. Decision. */
export const LEND_REPEAT_MS = 200
/** Milliseconds after which unused money goes back to the authority. Design §6.2. */
export const MONEY_IDLE_MS = 10_000
