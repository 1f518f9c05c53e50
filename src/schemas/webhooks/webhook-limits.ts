/**
 * Milliseconds of one attempt to deliver a webhook, from the first look at its receiver to the begin of the
 * answer. C17.
 */
export const WEBHOOK_ATTEMPT_MS_MAX = 15_000
/** Bytes of a receiver's answer that are read before its connection is given up. Decision. */
export const WEBHOOK_ANSWER_BYTES_MAX = 65_536
/** Milliseconds that a receiver's `Retry-After` may put an attempt off. Decision: a day. */
export const WEBHOOK_RETRY_AFTER_MS_MAX = 86_400_000
/** Attempts under way in one runner: in all, for one workspace, and at one host whoever sends. Decision. */
export const WEBHOOK_CALLS_MAX = 256
export const WEBHOOK_WORKSPACE_CALLS_MAX = 64
export const WEBHOOK_HOST_CALLS_MAX = 16
/** Milliseconds that a delivery is one runner's: an attempt, and time to book it. Decision. */
export const WEBHOOK_LEASE_MS = 45_000
/** Milliseconds between two looks for deliveries that are due without a wake-up. Decision. */
export const WEBHOOK_SWEEP_MS = 1_000
/** Pairs of receiver and workspace that one statement looks at. Decision. */
export const WEBHOOK_PLACES_MAX = 1_000
/** Random bytes of a signing secret; Standard Webhooks asks for 24 to 64. Decision. */
export const WEBHOOK_SECRET_BYTES = 32
/**
 * Secrets of a workspace that sign at once: who rotates oftener within an overlap ends the oldest. Decision.
 */
export const WEBHOOK_SECRETS_MAX = 4
/** Milliseconds that a secret which was replaced may go on signing. Decision: 30 days. */
export const WEBHOOK_OVERLAP_MS_MAX = 30 * 86_400_000
