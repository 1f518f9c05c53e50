/** Named limits of money, each once, with its unit and its source. */
import { MIB } from './limits.ts'

/** USD that a budget, a key's limit, a top-up or all credit may amount to: their nano-USD fit a `bigint` nine times over. Decision. */
export const USD_MAX = 1_000_000_000
/** Milliseconds that a change of a limit waits for fronts to obey before its answer says `pending`; hints take a few. Decision. */
export const LIMITS_OBEYED_WAIT_MS_MAX = 500

/** Bytes of a front's journal on disk beyond which another segment begins. Decision. */
export const JOURNAL_SEGMENT_BYTES = 8 * MIB
/** Entries of a front that wait in memory for their flush; those beyond are read again from its journal. Decision. */
export const JOURNAL_ENTRIES_MAX = 20_000

/** Milliseconds that a front waits for the authority: for money or the day, for a batch of the books, and for the end of a journal. Decision. */
export const LEND_MS_MAX = 2_000
export const FLUSH_MS_MAX = 3_000

/** Milliseconds for which holders are told that somebody was refused; who was tries again sooner. Decision. */
export const WANTED_MS = 1_000
