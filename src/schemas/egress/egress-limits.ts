import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of egress, each once, with its unit and its source. */

/**
 * Of destinations that callers choose, in one front: connections of one workspace to one host and port, calls
 * that may wait for one, calls and exchanges of one workspace, of all, and sockets in all with idle ones;
 * `busy` beyond. Decision.
 */
export const VETTED_CONNECTIONS_MAX = 64
export const VETTED_WAITING_MAX = 64
export const VETTED_WORKSPACE_CALLS_MAX = 256
export const VETTED_CALLS_MAX = 1_024
export const VETTED_SOCKETS_MAX = 1_536
/**
 * Bytes of answers of such destinations that one front holds at once, beside those of providers: one of the
 * largest. Decision.
 */
export const VETTED_ANSWERS_BYTES_MAX = 128 * MIB
/**
 * Pools to such destinations that one front keeps, no fewer than calls; the least recently used idle one goes
 * first. Decision.
 */
export const VETTED_POOLS_MAX = 1_024
/**
 * Milliseconds that an idle connection to such a destination is kept, whatever it says, and then its pool:
 * many servers close theirs after 5 s. Decision.
 */
export const VETTED_KEEP_ALIVE_MS = 4_000
export const VETTED_IDLE_MS = 60_000
/**
 * Lookups of callers' names that run at once and that wait, of one front and of one workspace there;
 * milliseconds of either. Decision.
 */
export const LOOKUPS_MAX = 8
export const LOOKUPS_WAITING_MAX = 256
export const WORKSPACE_LOOKUPS_MAX = 2
export const WORKSPACE_LOOKUPS_WAITING_MAX = 64
export const LOOKUP_MS_MAX = 5_000
/**
 * Milliseconds until a destination of the egress route begins to answer behind the last byte of the request.
 * Decision.
 */
export const EGRESS_DEADLINE_MS = 600_000
/** Milliseconds without a byte of its answer, and without it taking one of the request. Decision. */
export const EGRESS_ANSWER_STALL_MS = 300_000
export const EGRESS_BODY_STALL_MS = 60_000
/** Bytes of a request's body that wait for its destination. Decision. */
export const EGRESS_WAITING_BYTES_MAX = 256 * KIB
/** Bytes of a body in which placeholders are replaced, before and after. Decision. */
export const EGRESS_SUBSTITUTED_BODY_BYTES_MAX = 64 * KIB
export const EGRESS_FILLED_BODY_BYTES_MAX = MIB
/**
 * Secrets that one request may name, and bytes of target and headers with their values in place. Decision.
 */
export const EGRESS_SECRETS_MAX = 32
export const EGRESS_FILLED_HEAD_BYTES_MAX = 128 * KIB
