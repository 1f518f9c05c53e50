/** Named limits of the audit log, each with its unit and its source. */

/** Milliseconds during which equal refusals are counted in one row of the audit log. Decision. */
export const REFUSALS_GATHERED_MS = 60_000
/** Events of a page of the audit log when the request names no number. Decision. */
export const AUDIT_PAGE_DEFAULT = 50
