/** Named limits of money, each with its unit and its source. */
import { MIB } from '../limits/limits.ts'

/**
 * USD of a budget, of a key's limit, of a top-up and of all credit: nine times their nano-USD fit a `bigint`.
 * Decision.
 */
export const USD_MAX = 1_000_000_000
/**
 * Nano-USD that one call costs at most, 9 million USD: numbers are exact up to there. Workspaces set the
 * prices of their own endpoints. Decision.
 */
export const COST_NANO_MAX = Number.MAX_SAFE_INTEGER
/**
 * USD at which counters of accounts and roll-ups stop: above every limit, and three times their nano-USD fit
 * a `bigint`. A counter that overflowed would stop the accounting of all workspaces. Decision.
 */
export const COUNTER_USD_MAX = 3_000_000_000
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
/** Rows of a page of activity. Decision. */
export const ACTIVITY_PAGE_MAX = 1_000
/** Rows of a page of activity when the request names no number. Decision. */
export const ACTIVITY_PAGE_DEFAULT = 100
/** Rows of activity that a request may skip. Decision. */
export const ACTIVITY_OFFSET_MAX = 1_000_000

/** Bytes of a front's journal segment on disk, after which the next segment begins. Decision. */
export const JOURNAL_SEGMENT_BYTES = 8 * MIB
/**
 * Entries of a front that wait in memory for their flush; the front reads further entries from its journal.
 * Decision.
 */
export const JOURNAL_ENTRIES_MAX = 20_000

/** Milliseconds that a front waits for the authority to lend money or to report the day. Decision. */
export const LEND_MS_MAX = 2_000
/** Milliseconds that a front waits for the authority to book a batch of entries. Decision. */
export const FLUSH_MS_MAX = 3_000
/** Milliseconds that a front waits for the authority to close a journal. Decision. */
export const CLOSE_MS_MAX = 30_000

/**
 * Milliseconds for which the authority notifies holders of an account's money of a refused front; the refused
 * front tries again sooner. Decision.
 */
export const WANTED_MS = 1_000

/**
 * Milliseconds that a call waits for money from a store that does not answer; the call's own deadline may be
 * earlier. Decision.
 */
export const MONEY_WAIT_MS_MAX = 1_000
/**
 * Milliseconds in which a call tries again while other fronts hold the money that it needs. Design §6.6;
 * Decision.
 */
export const MONEY_TRIED_MS_MAX = 500
/** Milliseconds between two attempts of a call to get money that other fronts hold. Design §6.6; Decision. */
export const MONEY_TRY_MS = 75
/**
 * Milliseconds that a front repeats the authority's refusal without asking again, unless a limit changes.
 * Decision.
 */
export const MONEY_REFUSED_MS = 200
/** Calls of one front that wait for money; `busy` beyond. Decision. */
export const MONEY_WAITING_MAX = 4_096
/** Accounts with a limit whose balance one front keeps; `busy` beyond. Decision. */
export const MONEY_BALANCES_MAX = 50_000
/** Accounts in one request for money; the next request takes the others. Decision. */
export const LEND_ACCOUNTS_MAX = 256
/** Milliseconds until a request for money or a flush without an answer is repeated. Decision. */
export const LEND_REPEAT_MS = 200
/** Milliseconds after which unused money goes back to the authority. Design §6.2. */
export const MONEY_IDLE_MS = 10_000
/**
 * Milliseconds between two flushes of a front's journal, and between two questions which accounts other
 * fronts want. Design §6.6; Decision.
 */
export const BOOKS_FLUSH_MS = 200
/** Entries of one flush: its statements cost as much as 500 entries. Design §6.6; Decision. */
export const BOOKS_FLUSH_ENTRIES_MAX = 3_000
/** Entries down to which a flush without an answer is halved. Decision. */
export const BOOKS_FLUSH_ENTRIES_MIN = 100
/** Entries by which flushes grow again with each that is applied. Decision. */
export const BOOKS_FLUSH_ENTRIES_STEP = 100
