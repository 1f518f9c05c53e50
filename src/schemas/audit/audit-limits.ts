/** Named limits of audit, each once, with its unit and its source. */

/**
 * Events of the audit log that one statement appends, milliseconds that one waits for others, and between
 * tries while the store is away. Decision.
 */
export const AUDIT_BATCH_EVENTS = 500
export const AUDIT_FLUSH_MS = 50
export const AUDIT_RETRY_MS = 250
/** Events that wait for the store; beyond, what would cause another is refused. Decision. */
export const AUDIT_WAITING_MAX = 20_000
/** Milliseconds in which equal refusals become one row of the audit log with their count. Decision. */
export const REFUSALS_GATHERED_MS = 60_000
/**
 * Different refusals of one key, in that time and in each process, that have rows of their own; further ones
 * share one for each reason. Decision.
 */
export const REFUSALS_DISTINCT_MAX = 100
/**
 * Those of all keys of one organization: keys are free to make. Further ones share one for each reason.
 * Decision.
 */
export const REFUSALS_ORGANIZATION_DISTINCT_MAX = 1_000
/**
 * Different refusals of all organizations that one process counts; further ones share one for each
 * organization and reason. Decision.
 */
export const REFUSALS_GATHERED_MAX = 10_000
/** Events of a page of the audit log at most, and when the caller names no number. Decision. */
export const AUDIT_PAGE_MAX = 100
export const AUDIT_PAGE_DEFAULT = 50
/**
 * Events that one read of the audit log looks at; a page of a search that finds little may be short, and says
 * where to go on. Decision.
 */
export const AUDIT_LOOKED_MAX = 20_000
