/** Characters of a filter. Decision. */
export const SCIM_FILTER_CHARS_MAX = 4_096
/** Comparisons of one filter. Decision. */
export const SCIM_FILTER_TERMS_MAX = 100
/** Parentheses, brackets and `not` of one filter, which may all be nested. Decision. */
export const SCIM_FILTER_NESTING_MAX = 20
/** Users or groups of a page of the SCIM service; a request for more gets this number. Decision. */
export const SCIM_RESULTS_MAX = 200
/** Users or groups of a page of the SCIM service when the request names no number. Decision. */
export const SCIM_RESULTS_DEFAULT = 100
/**
 * Members of the first group of a page of a list; a page always has a group. A request without members has no
 * such limit. Decision.
 */
export const SCIM_LISTED_MEMBERS_MAX = 200_000
/** Characters of a userName, a displayName and an externalId. Decision. */
export const SCIM_NAME_CHARS_MAX = 256
/** UTF-8 bytes, as JSON, of a user's attributes without fields of their own. Decision. */
export const SCIM_ATTRIBUTES_BYTES_MAX = 64 * 1024
/**
 * Values in the lists of one attribute of a user, and in all that one PATCH of a user sends: every value is
 * compared with every other. Decision.
 */
export const SCIM_VALUES_MAX = 500
/** Bytes of the body of a request about a user: the body is read on the loop. Decision. */
export const SCIM_USER_BODY_BYTES_MAX = 256 * 1024
/**
 * Comparisons of values that one PATCH of a user needs, and that the filters of one PATCH hold. An operation
 * needs the number of values of its list times the number of comparisons in its filter. They run on the loop,
 * about 100 in 0.1 ms. Decision.
 */
export const SCIM_PATCH_COMPARISONS_MAX = 10_000
/** Operations of a PATCH that are read in one turn of the loop. Decision. */
export const SCIM_PATCH_READ_AT_ONCE = 50
/** Operations of one PATCH. Decision. */
export const SCIM_PATCH_OPERATIONS_MAX = 1_000
/**
 * Ids of members that joined, and of members that left, in one row of the audit log; the counts are complete.
 * Decision.
 */
export const SCIM_AUDITED_MEMBERS_MAX = 50

/**
 * Names of a user's changed attributes in one event of the audit log: an identity provider may send
 * attributes of any name. Decision.
 */
export const SCIM_AUDITED_NAMES_MAX = 50
/** Milliseconds of a call about a group, which may have 100,000 members. Decision. */
export const SCIM_GROUP_DEADLINE_MS = 30_000
/**
 * Bytes of groups in one front that an organization has requested and not read yet; a single answer may be
 * larger. Decision.
 */
export const SCIM_ANSWERS_BYTES_MAX = 64 * 1024 * 1024
/**
 * Calls of one organization about its directory that wait in one front for earlier calls; `busy` beyond.
 * Decision.
 */
export const DIRECTORY_CALLS_WAITING_MAX = 256
