/** Named limits of keys, each with its unit and its source. */

/** Key records that a front caches. Decision. */
export const KEYS_CACHED_MAX = 50_000
/** Unknown keys that a front remembers. Decision. */
export const UNKNOWN_KEYS_CACHED_MAX = 10_000
/**
 * Keys of one front that are loading or wait to be loaded: a flood of invented keys must not use up the
 * memory before the connections run out. Decision.
 */
export const KEY_LOADS_MAX = 4_096
/** Queries of one front that load keys at once; each query takes all waiting keys. Decision. */
export const KEY_QUERIES_MAX = 4
/** Keys that a new front loads at its start: the keys that another front of the node used last. Decision. */
export const KEYS_HANDED_MAX = 10_000
/** Keys that a new front loads at once at its start. Decision. */
export const KEYS_HANDED_QUERY_MAX = 1_000
/** Milliseconds that a new front's readiness waits for the keys of another front. Decision. */
export const KEYS_HANDED_MS_MAX = 500
/**
 * Milliseconds in which a cache of a front repeats a read because the value keeps changing; the deadline of a
 * call may end the call earlier. Decision.
 */
export const RELOADS_MS_MAX = 60_000
/**
 * Loads of one value that an interrupted change feed made void. The next load serves the calls that wait for
 * it, and is not cached. Decision.
 */
export const BLIND_LOADS_MAX = 4
/**
 * Names of changed things that a cache records while loads run; above this number every load counts as
 * changed. Decision.
 */
export const RECENT_CHANGES_MAX = 10_000
/** Milliseconds that an unknown key is remembered as unknown. Decision. */
export const UNKNOWN_KEY_TTL_MS = 5_000
/** Milliseconds between two polls of the epoch. Design §3. */
export const EPOCH_POLL_MS = 1_000
/** Milliseconds until a poll of the epoch times out. Design §3. */
export const EPOCH_POLL_TIMEOUT_MS = 400
/**
 * Milliseconds without a successful poll after which Postgres counts as unavailable: a poll, its timeout and
 * a late timer. Decision.
 */
export const EPOCH_OVERDUE_MS = EPOCH_POLL_MS + EPOCH_POLL_TIMEOUT_MS + 100
/**
 * Milliseconds of grace, at least: with less, a front would ask a healthy store for known keys between two
 * polls. Decision.
 */
export const KEY_GRACE_MS_MIN = 2_000
/** Milliseconds that a request waits for its key to be loaded. Decision. */
export const KEY_LOAD_MS_MAX = 2_000
/**
 * Milliseconds that a statement on the connection for keys waits for a lock. A heartbeat and a look at admin
 * ports may be before a load, and leave it time. Decision.
 */
export const KEY_LOCK_WAIT_MS_MAX = 750
/** Keys of a page. B2.10. */
export const KEYS_PAGE = 100
/** Keys that a request for a page may skip. Decision. */
export const KEYS_OFFSET_MAX = 1_000_000
/** Models and authors that a key's allow list names. Decision. */
export const ALLOWED_MODELS_MAX = 256
/** Characters of each model or author of a key's allow list. Decision. */
export const ALLOWED_MODEL_CHARS_MAX = 256
/** Characters of the caller's own id for the user of a key. Decision. */
export const KEY_USER_CHARS_MAX = 256
/** Seconds that a rotated key still works when the request names no number. Decision. */
export const KEY_OVERLAP_S_DEFAULT = 86_400
/** Seconds that a rotated key still works. Decision. */
export const KEY_OVERLAP_S_MAX = 604_800
