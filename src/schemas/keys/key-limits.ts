/** Named limits of keys, each with its unit and its source. */

/** Key records that a front caches. Decision. */
export const KEYS_CACHED_MAX = 50_000
/** Unknown keys that a front remembers. Decision. */
export const UNKNOWN_KEYS_CACHED_MAX = 10_000
/** Milliseconds for which a new front waits for the keys of another front before it is ready. Decision. */
export const KEYS_HANDED_MS_MAX = 500
/** Milliseconds between two polls of the epoch. Design §3. */
export const EPOCH_POLL_MS = 1_000
/** Milliseconds until a poll of the epoch times out. Design §3. */
export const EPOCH_POLL_TIMEOUT_MS = 400
/**
 * Milliseconds without a successful poll after which Postgres counts as unavailable: the poll interval, a
 * timeout and 100 ms for a late timer. Decision.
 */
export const EPOCH_OVERDUE_MS = EPOCH_POLL_MS + EPOCH_POLL_TIMEOUT_MS + 100
/** The shortest grace in milliseconds: with less, a front would load known keys from a healthy store between two polls. Decision. */
export const KEY_GRACE_MS_MIN = 2_000
/** Milliseconds that a request waits for its key to be loaded. Decision. */
export const KEY_LOAD_MS_MAX = 2_000
/**
 * Milliseconds that a statement on the connection for keys waits for a lock. Short enough for a load to
 * finish in time after a heartbeat and a read of the admin ports. Decision.
 */
export const KEY_LOCK_WAIT_MS_MAX = 750
/** Keys of a page. B2.10. */
export const KEYS_PAGE = 100
/** Models and authors in a key's allow list. Decision. */
export const ALLOWED_MODELS_MAX = 256
/** Seconds that a rotated key still works when the request names no number. Decision. */
export const KEY_OVERLAP_S_DEFAULT = 86_400
/** Seconds that a rotated key still works. Decision. */
export const KEY_OVERLAP_S_MAX = 604_800
