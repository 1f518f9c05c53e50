/** Named limits of operators' features: the admin port, its live view, lists, a node's history, and retention. */

import { MIB } from '../limits/limits.ts'

/** Bytes of the body of a relayed request: an operator's requests are small. Decision. */
export const ADMIN_BODY_BYTES_MAX = MIB
/** Relayed calls in flight; further ones fail with `busy`. Decision. */
export const ADMIN_RELAYS_MAX = 64
/**
 * Milliseconds until the answer of a relayed call begins: longer than the deadline of any operation with such
 * a body. Decision.
 */
export const ADMIN_ANSWER_MS_MAX = 120_000
/**
 * Connections to the admin port at once. Above this number, the connection that has been idle longest is
 * closed. Decision.
 */
export const ADMIN_CONNECTIONS_MAX = 256
/** Milliseconds within which a request must arrive completely. Decision. */
export const ADMIN_REQUEST_MS_MAX = 30_000
/** Milliseconds for which a successful check of an operator's key is cached. Decision. */
export const ADMIN_KEY_MS_MAX = 5_000
/** Cached operator keys, and key checks in flight; further ones fail with `busy`. Decision. */
export const ADMIN_KEYS_MAX = 64
/** Milliseconds that a front has to check a key. Decision. */
export const ADMIN_KEY_CHECK_MS_MAX = 3_000
/** Open live views of one node; further ones fail with `busy`. Decision. */
export const LIVE_STREAMS_MAX = 32
/** Milliseconds between two samples of a node's processes while a live view is open. Decision. */
export const LIVE_LOOK_MS = 1_000
/** Milliseconds between the first two samples, so that a page soon has figures. Decision. */
export const LIVE_FIRST_MS = 200
/** Samples from which quantiles and the state of a provider are computed. Decision. */
export const LIVE_LOOKS_KEPT = 10
/** Models for which the live view shows figures: those with the most input tokens. Decision. */
export const LIVE_MODELS_MAX = 20
/** Milliseconds without progress after which a reader of the live view is cut off. Decision. */
export const LIVE_STALL_MS = 30_000
/** Milliseconds after its last use at which a dashboard session ends. A visible page counts as use. Decision. */
export const SESSION_IDLE_MS = 15 * 60_000
/** Milliseconds after sign-in at which a dashboard session ends, even if it is in use. Decision. */
export const SESSION_MS_MAX = 12 * 60 * 60_000
/** Sessions of one node; above this number, the key with the most sessions loses its least recently used one. Decision. */
export const SESSIONS_MAX = 128
/** Random bytes of the id of a session, and of the token of its page. Decision. */
export const SESSION_SECRET_BYTES = 32

/** Rows of a page of an operator's list when the request names no number. B3.1. */
export const ADMIN_PAGE_DEFAULT = 50
/** Rows that an operator's list can show, count and skip: the newest rows of its first filter. Decision. */
export const ADMIN_LISTED_MAX = 10_000
/** Files of a workspace that an operator's list counts. Decision. */
export const ADMIN_FILES_COUNTED_MAX = 100_000
/** File types that an operator's view of one workspace lists separately. Decision. */
export const ADMIN_FILE_TYPES_MAX = 50

/** Seconds that are kept at the grain of a second: an hour. Decision. */
export const HISTORY_SECONDS_KEPT = 3_600
/** Minutes that are kept at the grain of a minute: a day. Decision. */
export const HISTORY_MINUTES_KEPT = 1_440
/** Hours that Postgres keeps at the grain of an hour: a month. Decision. */
export const HISTORY_HOURS_KEPT = 744
/** Seconds of one histogram at the grain of a second: a single second has too few calls for a p99. Decision. */
export const HISTORY_QUANTILE_S = 10
/** Operations with separate lines. Decision. */
export const HISTORY_OPERATIONS_MAX = 16
/** Providers with separate lines. Decision. */
export const HISTORY_PROVIDERS_MAX = 12
/** Models with separate lines. Decision. */
export const HISTORY_MODELS_MAX = 16
/** Keys with separate lines: the busiest ones. Decision. */
export const HISTORY_KEYS_MAX = 12
/** Lines of one answer, plus one for all others. Decision. */
export const HISTORY_LINES_MAX = 8
/** Points of one line of an answer. Decision. */
export const HISTORY_POINTS_MAX = 3_600
/** Events that are kept, such as reloads and breakers that opened. Decision. */
export const HISTORY_EVENTS_MAX = 500
/** Milliseconds that a front waits for its supervisor's history. Decision. */
export const HISTORY_ANSWER_MS_MAX = 2_000
/** Milliseconds between two roll-ups of the current hour. Decision. */
export const HISTORY_ROLL_UP_MS = 300_000

/**
 * Rows that one transaction examines and removes: the transaction holds few locks, and holds them for
 * milliseconds. Decision.
 */
export const PRUNED_AT_ONCE = 1_000
/** Milliseconds between two checks by a runner whether a run of pruning is due. Decision. */
export const PRUNE_LOOK_MS = 5_000
/** Milliseconds between two reads of the oldest rows that are kept. Decision. */
export const OLDEST_LOOK_MS = 60_000
