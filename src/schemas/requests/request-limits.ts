/** Named limits of the request log, each with its unit and its source. */

/** Days that the rows of the request log are kept, unless SLUICE_KEEP_REQUESTS says otherwise. Decision. */
export const REQUEST_DAYS_DEFAULT = 7
/** Bytes of a file of the spill; files are joined up to them. Decision. */
export const REQUESTS_FILE_BYTES_MAX = 1_048_576
/** Milliseconds between two looks of a runner into the spill. Decision. */
export const REQUESTS_LOOK_MS = 1_000
/** Milliseconds between the first and the last end of a segment's calls at most. Decision. */
export const REQUESTS_PACKED_MS_MAX = 60_000
/** The weight of those. Decision. */
export const REQUESTS_LAST_WEIGHT = 100
/** Rows of a page of the request log. Decision. */
export const REQUESTS_PAGE_MAX = 500
/** Rows of a page when the request names no number. Decision. */
export const REQUESTS_PAGE_DEFAULT = 50
/**
 * Rows that one read of the request log examines. A page of a search with few matches may be short; its
 * cursor says where to continue. Decision.
 */
export const REQUESTS_LOOKED_MAX = 100_000
/** Names on one page of the request log for which the nearest models are shown. Decision. */
export const ASKED_MODELS_COMPARED_MAX = 8
/** Milliseconds that the page Requests rests for each row of a look: following a busy log costs the node little. Decision. */
export const REQUESTS_ROW_REST_MS = 10
/** Keys that a search by the name of a key covers, the newest ones. Decision. */
export const REQUESTS_KEYS_NAMED_MAX = 1_000
/** Rows of an export of the request log at most, the newest ones. Decision. */
export const REQUESTS_EXPORT_MAX = 100_000
/**
 * Milliseconds of an export from its first page on; a longer one is cut off, so that its client notices. A
 * reader that takes 128 KiB a second gets all rows in this time, at 1 KiB a row. Decision.
 */
export const REQUESTS_EXPORT_MS_MAX = 900_000
