/** Named limits of money, each with its unit and its source. */

/** USD of a budget, of a key's limit, of a top-up and of all credit: nine times this amount in nano-USD fits a Postgres `bigint`. Decision. */
export const USD_MAX = 1_000_000_000
/**
 * The most nano-USD that one call can cost, 9 million USD: integers are exact up to this number. A bound is
 * needed because workspaces set the prices of their own endpoints. Decision.
 */
export const COST_NANO_MAX = Number.MAX_SAFE_INTEGER
/**
 * Milliseconds for which a change of a limit waits for the fronts to apply it before the answer is `pending`;
 * a notification takes a few milliseconds. Decision.
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
 * Milliseconds for which a call keeps trying while other fronts hold the money that it needs. Design §6.6;
 * Decision.
 */
export const MONEY_TRIED_MS_MAX = 500
/** Milliseconds between two attempts of a call to get money that other fronts hold. Design §6.6; Decision. */
export const MONEY_TRY_MS = 75
/** Milliseconds after which an unanswered request for money, or an unanswered flush, is repeated. Decision. */
export const LEND_REPEAT_MS = 200
/** Milliseconds after which unused money is returned to the authority. Design §6.2. */
export const MONEY_IDLE_MS = 10_000
