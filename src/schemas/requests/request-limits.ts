/** Named limits of the request log, each with its unit and its source. */

/** Days for which the rows of the request log are kept, unless SLUICE_KEEP_REQUESTS is set. Decision. */
export const REQUEST_DAYS_DEFAULT = 7
/** Bytes of a file in the spill; smaller files are joined up to this size. Decision. */
export const REQUESTS_FILE_BYTES_MAX = 1_048_576
/** Milliseconds between two checks of the spill by a runner. Decision. */
export const REQUESTS_LOOK_MS = 1_000
/** The most milliseconds between the ends of the first and the last call in a segment. Decision. */
export const REQUESTS_PACKED_MS_MAX = 60_000
/** The weight of calls kept after the first REQUESTS_FIRST_WEIGHT_MAX of a kind. Decision. */
export const REQUESTS_LAST_WEIGHT = 100
/** Rows of a page of the request log. Decision. */
export const REQUESTS_PAGE_MAX = 500
/** Rows of a page when the request names no number. Decision. */
export const REQUESTS_PAGE_DEFAULT = 50
/**
 * Rows that one read of the request log examines. A page of a search with few matches may be short; its
 * cursor continues the search. Decision.
 */
export const REQUESTS_LOOKED_MAX = 100_000
/** Names on one page of the request log for which the nearest models are shown. Decision. */
export const ASKED_MODELS_COMPARED_MAX = 8
/**
 * Milliseconds for which the page Requests pauses for each row that a poll returned, so that following a busy
 * log costs the node little. Decision.
 */
export const REQUESTS_ROW_REST_MS = 10
/** Keys that a search by the name of a key covers, the newest ones. Decision. */
export const REQUESTS_KEYS_NAMED_MAX = 1_000
/** The most rows of an export of the request log: the newest ones. Decision. */
export const REQUESTS_EXPORT_MAX = 100_000
/**
 * Milliseconds of an export from its first page; a longer one is aborted in a way that the client notices. A
 * reader at 128 KiB per second gets all rows in this time, at 1 KiB per row. Decision.
 */
export const REQUESTS_EXPORT_MS_MAX = 900_000
