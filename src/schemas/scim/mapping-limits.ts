/** Named limits of group mappings and syncs, each with its unit and its source. */

/** Members of a group whose grants one statement writes, and that one step of a sync examines. Decision. */
export const GRANTED_AT_ONCE = 5_000

/** Mappings or groups of a page when the request names no number. B2.5; Decision. */
export const SCIM_PAGE_DEFAULT = 50

/** Members of a group that a preview of a mapping counts. Decision. */
export const MAPPING_PREVIEWED_MAX = 100_000
