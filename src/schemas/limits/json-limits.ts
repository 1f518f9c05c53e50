import { KIB, MIB } from './limits.ts'

/**
 * Objects, lists and members that a body holds in the members that are read; others are stepped over, however
 * many. Decision.
 */
export const JSON_VALUES_MAX = MIB
/**
 * Objects, lists and members above which a JSON body is read in a short job, however few bytes it has.
 * Decision.
 */
export const INLINE_JSON_VALUES_MAX = 8 * KIB
/**
 * Commas above which it is, since strings and numbers of lists cost something too: so many are read within a
 * millisecond. Decision.
 */
export const INLINE_JSON_COMMAS_MAX = 16 * KIB
/** The same of a body of which a digest is made, which takes four times as long. Decision. */
export const INLINE_DIGESTED_COMMAS_MAX = 4 * KIB
/** Bytes above which these are counted: fewer cannot hold the loop. Decision. */
export const OUTLINED_BYTES_MIN = 16 * KIB
/**
 * Bytes of secrets that a job seals or opens in less than a millisecond: one of the longest, and what its
 * envelope adds. Decision.
 */
export const BRIEF_SECRETS_BYTES_MAX = 257 * KIB
