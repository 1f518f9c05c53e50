/** Named limits of money, each once, with its unit and its source. */
import { MIB } from '../limits/limits.ts'

/**
 * USD that a budget, a key's limit, a top-up or all credit may amount to: their nano-USD fit a `bigint` nine
 * times over. Decision.
 */
export const USD_MAX = 1_000_000_000
/**
 * Nano-USD that one call comes to at most, 9 million USD: up to there numbers count exactly. Tenants set the
 * prices of their own endpoints. Decision.
 */
export const COST_NANO_MAX = Number.MAX_SAFE_INTEGER
/**
 * USD at which counters of accounts and roll-ups stand still: above every limit, and thrice their nano-USD
 * fit a `bigint`. One that overflowed would hold up the books of all. Decision.
 */
export const COUNTER_USD_MAX = 3_000_000_000
/**
 * Milliseconds that a change of a limit waits for fronts to obey before its answer says `pending`; hints take
 * a few. Decision.
 */
export const LIMITS_OBEYED_WAIT_MS_MAX = 500
/** Characters of the note of a top-up. Decision. */
export const CREDIT_NOTE_CHARS_MAX = 500
/**
 * Days of activity that one read may span, both ends included, and those that it spans when it names none.
 * Decision.
 */
export const ACTIVITY_DAYS_MAX = 366
export const ACTIVITY_DAYS_DEFAULT = 30
/**
 * Rows of a page of activity at most, and when the caller names no number; rows that may be skipped.
 * Decision.
 */
export const ACTIVITY_PAGE_MAX = 1_000
export const ACTIVITY_PAGE_DEFAULT = 100
export const ACTIVITY_OFFSET_MAX = 1_000_000

/** Bytes of a front's journal on disk beyond which another segment begins. Decision. */
export const JOURNAL_SEGMENT_BYTES = 8 * MIB
/**
 * Entries of a front that wait in memory for their flush; those beyond are read again from its journal.
 * Decision.
 */
export const JOURNAL_ENTRIES_MAX = 20_000

/**
 * Milliseconds that a front waits for the authority: for money or the day, for a batch of the books, and for
 * the end of a journal. Decision.
 */
export const LEND_MS_MAX = 2_000
export const FLUSH_MS_MAX = 3_000
export const CLOSE_MS_MAX = 30_000

/**
 * Milliseconds for which holders are told that somebody was refused; who was tries again sooner. Decision.
 */
export const WANTED_MS = 1_000

/**
 * Milliseconds that a call waits for money of a store that does not answer; its own deadline may be sooner.
 * Decision.
 */
export const MONEY_WAIT_MS_MAX = 1_000
/**
 * Milliseconds that a call is tried for while others hold what it needs, and between two tries. Design §6.6;
 * Decision.
 */
export const MONEY_TRIED_MS_MAX = 500
export const MONEY_TRY_MS = 75
/** Milliseconds that a front refuses by what it was told, where no limit changed since. Decision. */
export const MONEY_REFUSED_MS = 200
/** Calls of one front that wait for money; `busy` beyond. Decision. */
export const MONEY_WAITING_MAX = 4_096
/** Accounts with a limit that one front keeps a balance of; `busy` beyond. Decision. */
export const MONEY_PURSES_MAX = 50_000
/** Accounts in one request for money; what is more goes with the next. Decision. */
export const LEND_ACCOUNTS_MAX = 256
/** Milliseconds until a request for money or a flush without an answer is repeated. Decision. */
export const LEND_REPEAT_MS = 200
/** Milliseconds after which money that was not used goes back. Design §6.2. */
export const MONEY_IDLE_MS = 10_000
/**
 * Milliseconds between two flushes, and between two questions who wants what; entries of one flush. Design
 * §6.6; Decision.
 */
export const BOOKS_FLUSH_MS = 200
export const BOOKS_FLUSH_ENTRIES_MAX = 1_000
