import { KIB, MIB } from './limits.ts'

/**
 * Objects, lists and members in the parts of a body that Sluice reads; the other parts are skipped, whatever
 * their size, and read with them where the call is written in another form. Decision.
 */
export const JSON_VALUES_MAX = MIB
/**
 * Commas above which a JSON body is read in a short job: strings and numbers of lists take time too, and the
 * loop reads this many within a millisecond. Decision.
 */
export const INLINE_JSON_COMMAS_MAX = 16 * KIB
/**
 * Commas above which a JSON body that gets a digest is read in a short job: the digest takes four times as
 * long as reading. Decision.
 */
export const INLINE_DIGESTED_COMMAS_MAX = 4 * KIB
/** Bytes above which the values and commas of a JSON body are counted: a smaller body cannot hold up the loop. Decision. */
export const OUTLINED_BYTES_MIN = 16 * KIB
/** Known top-level members of a body whose bytes are kept, with their repetitions: a place is kept of each. Decision. */
export const KEPT_MEMBERS_MAX = 4 * KIB
/**
 * Nested members of a body whose places are kept, since some providers must not get them: two for each of
 * the messages that a call may have. Each splits the body once more where it is sent, on the loop. Decision.
 */
export const KEPT_MARKS_MAX = 8 * KIB
/**
 * Bytes of secrets that a job seals or opens in less than a millisecond: one secret of the longest kind with
 * its envelope. Decision.
 */
export const BRIEF_SECRETS_BYTES_MAX = 257 * KIB
