/** Rows of a page of an operator's list, and when no number is asked for. B3.1; Decision for the most. */
export const ADMIN_PAGE_MAX = 100
export const ADMIN_PAGE_DEFAULT = 50
/**
 * Rows that an operator's list reaches, counts and may skip: the newest of its first filter, whatever there
 * is behind them. Decision.
 */
export const ADMIN_LISTED_MAX = 10_000
/** Dead letters that one call replays. Decision. */
export const ADMIN_REPLAYED_MAX = 10_000
/** Files of a workspace that an operator's list counts. Decision. */
export const ADMIN_FILES_COUNTED_MAX = 100_000
