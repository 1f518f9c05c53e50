/** Named limits of group mappings and syncs, each with its unit and its source. */

/** Members of a group whose grants one statement writes, and that one step of a sync examines. Decision. */
export const GRANTED_AT_ONCE = 5_000

/** Mappings or groups of a page. B2.5; Decision. */
export const SCIM_PAGE_MAX = 100
/** Mappings or groups of a page when the request names no number. B2.5; Decision. */
export const SCIM_PAGE_DEFAULT = 50
/** Mappings or groups that a request for a page may skip. B2.5; Decision. */
export const SCIM_OFFSET_MAX = 1_000_000

/** Members of a group that a preview of a mapping counts. Decision. */
export const MAPPING_PREVIEWED_MAX = 100_000

/** Milliseconds between two checks by a runner for requested syncs. Decision. */
export const SYNC_POLL_MS = 1_000
/** Milliseconds after the last step of a sync until another runner may continue the sync. Decision. */
export const SYNC_LEASE_MS = 15_000
/** Milliseconds until a step is tried again that the store could not execute. Decision. */
export const SYNC_RETRY_MS = 500
/** Attempts at a sync; after these the sync has failed. Decision. */
export const SYNC_ATTEMPTS_MAX = 10
/** Milliseconds that an ended sync can be read: 30 days. Decision. */
export const SYNC_JOBS_KEPT_MS = 30 * 86_400_000
