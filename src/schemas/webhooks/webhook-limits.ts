/** Milliseconds of one attempt to deliver a webhook, from the lookup of its receiver to the start of the answer. C17. */
export const WEBHOOK_ATTEMPT_MS_MAX = 15_000
/** Milliseconds of a call that sends a test event: one attempt, preceded by the lookups and the read of the secret. Decision. */
export const WEBHOOK_TEST_DEADLINE_MS = 20_000
/** Events of one page of ended jobs. Decision. */
export const WEBHOOK_EVENTS_PAGE_MAX = 100
/** Seconds before now at which a list of events may begin. Decision: an hour. */
export const WEBHOOK_EVENTS_BACK_S_MAX = 3_600
/** Bytes of a receiver's answer that are read before its connection is closed. Decision. */
export const WEBHOOK_ANSWER_BYTES_MAX = 65_536
/** Attempts in flight in one runner. Decision. */
export const WEBHOOK_CALLS_MAX = 256
/** Attempts of one workspace in flight in one runner. Decision. */
export const WEBHOOK_WORKSPACE_CALLS_MAX = 64
/** Attempts at one host in flight in one runner, for all workspaces. Decision. */
export const WEBHOOK_HOST_CALLS_MAX = 16
/**
 * Secrets of a workspace that sign at the same time; a further rotation during the overlap retires the
 * oldest. Decision.
 */
export const WEBHOOK_SECRETS_MAX = 4
/** Milliseconds that a replaced secret may continue to sign. Decision: 30 days. */
export const WEBHOOK_OVERLAP_MS_MAX = 30 * 86_400_000
