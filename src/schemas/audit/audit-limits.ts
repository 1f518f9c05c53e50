/** Named limits of the audit log, each with its unit and its source. */

/** Events of the audit log that one statement appends. Decision. */
export const AUDIT_BATCH_EVENTS = 500
/** Milliseconds that an event of the audit log waits for others before all are appended. Decision. */
export const AUDIT_FLUSH_MS = 50
/** Milliseconds between two attempts to append events while the store is unavailable. Decision. */
export const AUDIT_RETRY_MS = 250
/**
 * Events that wait for the store. Above this number a call that would cause an event is refused. Decision.
 */
export const AUDIT_WAITING_MAX = 20_000
/** Milliseconds in which equal refusals become one row of the audit log with their count. Decision. */
export const REFUSALS_GATHERED_MS = 60_000
/**
 * Different refusals of a key that get rows of their own, in each process and each REFUSALS_GATHERED_MS;
 * further refusals share a row for each reason. Decision.
 */
export const REFUSALS_DISTINCT_MAX = 100
/**
 * Different refusals of all keys of an organization that get rows of their own, since an organization can
 * create any number of keys; further refusals share a row for each reason. Decision.
 */
export const REFUSALS_ORGANIZATION_DISTINCT_MAX = 1_000
/**
 * Different refusals of all organizations that one process counts; further refusals share a row for each
 * organization and reason. Decision.
 */
export const REFUSALS_GATHERED_MAX = 10_000
/** Events of a page of the audit log. Decision. */
export const AUDIT_PAGE_MAX = 100
/** Events of a page of the audit log when the request names no number. Decision. */
export const AUDIT_PAGE_DEFAULT = 50
/**
 * Events that one read of the audit log examines. A page of a search with few matches may be short; its
 * cursor says where to continue. Decision.
 */
export const AUDIT_LOOKED_MAX = 20_000
