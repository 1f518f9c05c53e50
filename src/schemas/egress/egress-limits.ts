import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of egress, each with its unit and its source. */

/** Connections of a front, for one workspace, to one host and port that a caller chose. Decision. */
export const VETTED_CONNECTIONS_MAX = 64
/**
 * Calls of a front, for one workspace, that wait for a connection to a host and port that a caller chose;
 * `busy` beyond. Decision.
 */
export const VETTED_WAITING_MAX = 64
/**
 * Calls and exchanges of one workspace, in one front, with destinations that callers chose; `busy` beyond.
 * Decision.
 */
export const VETTED_WORKSPACE_CALLS_MAX = 256
/**
 * Calls and exchanges of all workspaces, in one front, with destinations that callers chose; `busy` beyond.
 * Decision.
 */
export const VETTED_CALLS_MAX = 1_024
/** Sockets of one front to destinations that callers chose, idle sockets included. Decision. */
export const VETTED_SOCKETS_MAX = 1_536
/**
 * Bytes of answers from destinations chosen by callers that one front holds at once, in addition to the
 * answers of providers: one answer of the largest size. Decision.
 */
export const VETTED_ANSWERS_BYTES_MAX = 128 * MIB
/**
 * Connection pools of one front to destinations that callers chose: as many as calls. The least recently used
 * idle pool is closed first. Decision.
 */
export const VETTED_POOLS_MAX = 1_024
/**
 * Milliseconds that an idle connection to a destination that a caller chose is kept, whatever the destination
 * offers: many servers close theirs after 5 s. Decision.
 */
export const VETTED_KEEP_ALIVE_MS = 4_000
/** Milliseconds that an idle pool to a destination that a caller chose is kept. Decision. */
export const VETTED_IDLE_MS = 60_000
/** Lookups of caller-chosen names that run at once in one front. Decision. */
export const LOOKUPS_MAX = 8
/** Lookups of caller-chosen names that wait in one front. Decision. */
export const LOOKUPS_WAITING_MAX = 256
/** Lookups of caller-chosen names that run at once for one workspace in one front. Decision. */
export const WORKSPACE_LOOKUPS_MAX = 2
/** Lookups of caller-chosen names that wait for one workspace in one front. Decision. */
export const WORKSPACE_LOOKUPS_WAITING_MAX = 64
/** Milliseconds that a lookup of a caller-chosen name waits, and then that it runs. Decision. */
export const LOOKUP_MS_MAX = 5_000
/** Milliseconds from the last byte of a request to the first of the answer, on the egress route. Decision. */
export const EGRESS_DEADLINE_MS = 600_000
/** Milliseconds that a destination may pause within its answer. Decision. */
export const EGRESS_ANSWER_STALL_MS = 300_000
/** Milliseconds that a destination may take no byte of the request's body. Decision. */
export const EGRESS_BODY_STALL_MS = 60_000
/** Bytes of a request's body that wait for the destination. Decision. */
export const EGRESS_WAITING_BYTES_MAX = 256 * KIB
/** Bytes of a body in which placeholders are replaced, before the replacement. Decision. */
export const EGRESS_SUBSTITUTED_BODY_BYTES_MAX = 64 * KIB
/** Bytes of a body in which placeholders are replaced, after the replacement. Decision. */
export const EGRESS_FILLED_BODY_BYTES_MAX = MIB
/** Secrets that one request may name. Decision. */
export const EGRESS_SECRETS_MAX = 32
/** Bytes of a request's target and headers after secrets have replaced their placeholders. Decision. */
export const EGRESS_FILLED_HEAD_BYTES_MAX = 128 * KIB
