/**
 * Milliseconds of one attempt to deliver a webhook, from the lookup of its receiver to the start of the
 * answer. C17.
 */
export const WEBHOOK_ATTEMPT_MS_MAX = 15_000
/**
 * Milliseconds of a call that sends a test event: an attempt, and the lookups and the secret before it.
 * Decision.
 */
export const WEBHOOK_TEST_DEADLINE_MS = 20_000
/** Events of one page of ended jobs. Decision. */
export const WEBHOOK_EVENTS_PAGE_MAX = 100
/** Seconds by which a list of events may begin before now. Decision: an hour. */
export const WEBHOOK_EVENTS_BACK_S_MAX = 3_600
/**
 * Milliseconds for which a list of events repeats itself: the end of a job is written a little later than the
 * instant that it has. Decision.
 */
export const WEBHOOK_EVENTS_SETTLE_MS = 5_000
/** Bytes of a receiver's answer that are read before its connection is closed. Decision. */
export const WEBHOOK_ANSWER_BYTES_MAX = 65_536
/** Milliseconds of a receiver's `Retry-After` that delay the next attempt. Decision: a day. */
export const WEBHOOK_RETRY_AFTER_MS_MAX = 86_400_000
/** Attempts in flight in one runner. Decision. */
export const WEBHOOK_CALLS_MAX = 256
/** Attempts of one workspace in flight in one runner. Decision. */
export const WEBHOOK_WORKSPACE_CALLS_MAX = 64
/** Attempts at one host in flight in one runner, for all workspaces. Decision. */
export const WEBHOOK_HOST_CALLS_MAX = 16
/** Milliseconds of a runner's lease of a delivery: an attempt, and the time to book it. Decision. */
export const WEBHOOK_LEASE_MS = 45_000
/** Milliseconds between two checks for due deliveries that were not announced. Decision. */
export const WEBHOOK_SWEEP_MS = 1_000
/** Pairs of receiver and workspace that one statement examines. Decision. */
export const WEBHOOK_PLACES_MAX = 1_000
/** Random bytes of a signing secret; Standard Webhooks asks for 24 to 64. Decision. */
export const WEBHOOK_SECRET_BYTES = 32
/**
 * Secrets of a workspace that sign at once: a further rotation within the overlap ends the oldest. Decision.
 */
export const WEBHOOK_SECRETS_MAX = 4
/** Milliseconds that a replaced secret may continue to sign. Decision: 30 days. */
export const WEBHOOK_OVERLAP_MS_MAX = 30 * 86_400_000
