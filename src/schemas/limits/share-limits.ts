/** What organizations share of one front. */

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of answers that the callers of one organization have not read, in each front: with so many its
 * further calls that read are `busy`, until some are read or their connections end. Decision.
 */
export const UNREAD_ANSWERS_BYTES_MAX = 64 * MIB
/**
 * Percent of a front's event loop that the calls of one organization may use of operations that list no 429,
 * while another organization calls too: those of one that used more wait their turn, and are never refused.
 * Decision.
 */
export const LOOP_SHARE_PERCENT = 50
/** Milliseconds of the loop by which an organization may be ahead of that share. Decision. */
export const LOOP_BURST_MS = 50
/**
 * Milliseconds without a call of another organization after which one is alone; and those that a call waits
 * for its turn at most. Decision.
 */
export const LOOP_OTHERS_MS = 1_000
export const LOOP_WAIT_MS_MAX = 3_000
/**
 * Calls of one organization, of operations that list no 429, that a front works on at once while another
 * organization calls too: half of its connections to Postgres, which one that asks faster than it is answered
 * would otherwise hold all the time. The others wait as for the loop. Decision.
 */
export const SHARED_CALLS_MAX = 2
/**
 * What a call costs the loop beyond the time that is measured: so many microseconds, and a millisecond for so
 * many bytes of its answer. Decision.
 */
export const LOOP_CALL_US = 200
export const LOOP_WRITTEN_BYTES_PER_MS = 128 * KIB
/** Bytes of an answer that is never given up for those that are not read. Decision. */
export const UNREAD_SMALL_BYTES = 64 * KIB
/** What the unread piece of a download counts. Decision. */
export const UNREAD_PIECE_BYTES = 256 * KIB
