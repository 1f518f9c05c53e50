/** Rows of a page of an operator's list. Decision. */
export const ADMIN_PAGE_MAX = 100
/** Rows of a page of an operator's list when the request names no number. B3.1. */
export const ADMIN_PAGE_DEFAULT = 50
/**
 * Rows that an operator's list reaches, counts and may skip: the newest rows of its first filter. Decision.
 */
export const ADMIN_LISTED_MAX = 10_000
/** Dead letters that one call replays. Decision. */
export const ADMIN_REPLAYED_MAX = 10_000
/** Files of a workspace that an operator's list counts. Decision. */
export const ADMIN_FILES_COUNTED_MAX = 100_000
/** File types that an operator's view of one workspace lists separately. Decision. */
export const ADMIN_FILE_TYPES_MAX = 50
/**
 * Reads of up to 100,000 rows that wait in a front, of all organizations; `busy` beyond. One of each
 * organization runs at a time, and all of them leave a connection to other calls. Decision.
 */
export const LONG_READS_WAITING_MAX = 256
/** Of them those of one organization. Decision. */
export const LONG_READS_WAITING_OF_ONE_MAX = 16
/** Milliseconds that a read of up to 100,000 rows waits for its turn; then it is `busy`. Decision. */
export const LONG_READ_WAIT_MS = 5_000
