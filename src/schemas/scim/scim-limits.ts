/** Users or groups of a page of the SCIM service; a request for more is reduced to this number. Decision. */
export const SCIM_RESULTS_MAX = 200
/** Users or groups of a page of the SCIM service when the request names no number. Decision. */
export const SCIM_RESULTS_DEFAULT = 100
/**
 * Members of the first group of a page of a list; a page always has a group. A request that excludes members
 * has no such limit. Decision.
 */
export const SCIM_LISTED_MEMBERS_MAX = 200_000
/** Characters of a userName, a displayName and an externalId. Decision. */
export const SCIM_NAME_CHARS_MAX = 256
/**
 * Values in the lists of one attribute of a user, and in one whole PATCH of a user: every value is compared
 * with every other. Decision.
 */
export const SCIM_VALUES_MAX = 500
/** Operations of one PATCH. Decision. */
export const SCIM_PATCH_OPERATIONS_MAX = 1_000

/** Milliseconds of a call about a group, which may have 100,000 members. Decision. */
export const SCIM_GROUP_DEADLINE_MS = 30_000
/** Bytes of groups in one front that an organization has requested but not yet read; a single answer may be larger. Decision. */
export const SCIM_ANSWERS_BYTES_MAX = 64 * 1024 * 1024

/** Live SCIM tokens of an organization. Decision. */
export const SCIM_TOKENS_MAX = 100

/** Members of a group for which one statement writes grants, and which one step of a sync examines. Decision. */
export const GRANTED_AT_ONCE = 5_000

/** Mappings or groups of a page when the request names no number. B2.5; Decision. */
export const SCIM_PAGE_DEFAULT = 50

/** Members of a group that a preview of a mapping counts. Decision. */
export const MAPPING_PREVIEWED_MAX = 100_000
