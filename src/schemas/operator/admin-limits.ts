/** Rows of a page of an operator's list when the request names no number. B3.1. */
export const ADMIN_PAGE_DEFAULT = 50
/** Rows that an operator's list reaches, counts and may skip: the newest rows of its first filter. Decision. */
export const ADMIN_LISTED_MAX = 10_000
/** Files of a workspace that an operator's list counts. Decision. */
export const ADMIN_FILES_COUNTED_MAX = 100_000
/** File types that an operator's view of one workspace lists separately. Decision. */
export const ADMIN_FILE_TYPES_MAX = 50
