/** Named limits of group mappings and syncs, each once, with its unit and its source. */

/** Members of a group whose grants one statement writes, and that one step of a sync looks at. Decision. */
export const GRANTED_AT_ONCE = 5_000

/**
 * Mappings or groups of a page at most, and when no number is asked for; how many may be skipped. B2.5;
 * Decision.
 */
export const SCIM_PAGE_MAX = 100
export const SCIM_PAGE_DEFAULT = 50
export const SCIM_OFFSET_MAX = 1_000_000

/** Milliseconds between two looks of a runner for syncs that were asked for. Decision. */
export const SYNC_POLL_MS = 500
/** Milliseconds after the last step of a sync after which another runner goes on with it. Decision. */
export const SYNC_LEASE_MS = 15_000
/** Milliseconds until a step is tried again that the store could not take. Decision. */
export const SYNC_RETRY_MS = 500
/** Times that a sync is begun; then it has failed. Decision. */
export const SYNC_ATTEMPTS_MAX = 10
/** Milliseconds that a sync which ended can be read: 30 days. Decision. */
export const SYNC_JOBS_KEPT_MS = 30 * 86_400_000
