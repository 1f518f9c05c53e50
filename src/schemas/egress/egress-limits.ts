import { MIB } from '../limits/limits.ts'

/** Named limits of egress, each with its unit and its source. */

/**
 * Concurrent calls and exchanges of one workspace, in one front, with destinations that callers chose;
 * further ones fail with `busy`. Decision.
 */
export const VETTED_WORKSPACE_CALLS_MAX = 256
/**
 * Bytes of answers from destinations chosen by callers that one front holds at once, in addition to the
 * answers of providers: one answer of the largest size. Decision.
 */
export const VETTED_ANSWERS_BYTES_MAX = 128 * MIB
/** Milliseconds from the last byte of a request to the first byte of the answer, on the egress route. Decision. */
export const EGRESS_DEADLINE_MS = 600_000
