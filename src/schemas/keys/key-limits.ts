/** Named limits of key, each once, with its unit and its source. */

/** Key records that a front caches, and unknown keys it remembers. Decision. */
export const KEYS_CACHED_MAX = 50_000
export const UNKNOWN_KEYS_CACHED_MAX = 10_000
/**
 * Keys that one front loads or that wait to be loaded, and queries that load them at once, each taking all
 * that wait. A flood of made-up keys must fill neither before the connections run out. Decision.
 */
export const KEY_LOADS_MAX = 4_096
export const KEY_QUERIES_MAX = 4
/**
 * Keys that a new front begins with because another front of its node used them last, by so many at once, and
 * milliseconds that its readiness waits for them. Decision.
 */
export const KEYS_HANDED_MAX = 10_000
export const KEYS_HANDED_QUERY_MAX = 1_000
export const KEYS_HANDED_MS_MAX = 500
/**
 * Milliseconds in which what a front caches is read again and again because it changes meanwhile: a call with
 * a sooner deadline ends by that. Loads of one value that a feed which lost track made void; the next one is
 * used by those who wait, and not kept. Things that changed while loads are out; beyond, all loads count as
 * touched. Decision.
 */
export const RELOADS_MS_MAX = 60_000
export const BLIND_LOADS_MAX = 4
export const HEARD_CHANGES_MAX = 10_000
/** Milliseconds that an unknown key is remembered as unknown. Decision. */
export const UNKNOWN_KEY_TTL_MS = 5_000
/** Milliseconds between two polls of the epoch, and the time-out of one. Design §3. */
export const EPOCH_POLL_MS = 1_000
export const EPOCH_POLL_TIMEOUT_MS = 400
/**
 * Milliseconds without a good poll after which Postgres counts as missing: a poll, its time-out and a late
 * timer. Decision.
 */
export const EPOCH_OVERDUE_MS = EPOCH_POLL_MS + EPOCH_POLL_TIMEOUT_MS + 100
/**
 * Least milliseconds of grace: below, known keys would be asked for between two polls of a store that is
 * well. Decision.
 */
export const KEY_GRACE_MS_MIN = 2_000
/** Milliseconds that a request waits for its key to be loaded. Decision. */
export const KEY_LOAD_MS_MAX = 2_000
/** Keys of a page. B2.10. */
export const KEYS_PAGE = 100
/** Keys before a page at most. Decision. */
export const KEYS_OFFSET_MAX = 1_000_000
/** Models and authors that a key's list of allowed ones names, and characters of each. Decision. */
export const ALLOWED_MODELS_MAX = 256
export const ALLOWED_MODEL_CHARS_MAX = 256
/** Characters of the ids by which callers know the users of keys. Decision. */
export const KEY_USER_CHARS_MAX = 256
/**
 * Seconds for which a key that was rotated goes on to work, when the call names none, and at most. Decision.
 */
export const KEY_OVERLAP_S_DEFAULT = 86_400
export const KEY_OVERLAP_S_MAX = 604_800
