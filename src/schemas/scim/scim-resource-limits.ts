/** Characters of a filter. Decision. */
export const SCIM_FILTER_CHARS_MAX = 4_096
/** Comparisons of one filter. Decision. */
export const SCIM_FILTER_TERMS_MAX = 100
/** Parentheses, brackets and `not` of one filter, which may all lie within each other. Decision. */
export const SCIM_FILTER_NESTING_MAX = 20
/** Users or groups of a page of the SCIM service; whoever asks for more gets so many. Decision. */
export const SCIM_RESULTS_MAX = 200
/** The same when no number is asked for. Decision. */
export const SCIM_RESULTS_DEFAULT = 100
/**
 * Members of the first group of a page of a list, which there always is; a request without the members has no
 * such limit. Decision.
 */
export const SCIM_LISTED_MEMBERS_MAX = 200_000
/** Characters of a userName, a displayName and an externalId. Decision. */
export const SCIM_NAME_CHARS_MAX = 256
/** UTF-8 bytes of what else an identity provider sends of a user, as JSON. Decision. */
export const SCIM_ATTRIBUTES_BYTES_MAX = 64 * 1024
/**
 * Values in the lists of one attribute of a user, and in all that one PATCH of a user sends: each is compared
 * with each. Decision.
 */
export const SCIM_VALUES_MAX = 500
/** Bytes of the body of a request about a user: it is read on the loop. Decision. */
export const SCIM_USER_BODY_BYTES_MAX = 256 * 1024
/**
 * Comparisons of values that one PATCH of a user comes to, and that the filters of one PATCH hold: of an
 * operation the values of its list times the comparisons of its filter. They run on the loop, some 100 in 0.1
 * ms. Decision.
 */
export const SCIM_PATCH_COMPARISONS_MAX = 10_000
/** Operations of a PATCH that are read in one turn of the loop. Decision. */
export const SCIM_PATCH_READ_AT_ONCE = 50
/** Operations of one PATCH. Decision. */
export const SCIM_PATCH_OPERATIONS_MAX = 1_000
/**
 * Ids of members that joined, and of those that left, in one row of the audit log; the counts are always
 * whole. Decision.
 */
export const SCIM_AUDITED_MEMBERS_MAX = 50

/**
 * Names of a user's changed attributes that one event of the audit log tells: an identity provider's own may
 * be any. Decision.
 */
export const SCIM_AUDITED_NAMES_MAX = 50
/** Milliseconds of a call about a group: it may have 100,000 members. Decision. */
export const SCIM_GROUP_DEADLINE_MS = 30_000
/**
 * Bytes of groups that an organization has asked a front for and not yet read; one answer may be larger.
 * Decision.
 */
export const SCIM_ANSWERS_BYTES_MAX = 64 * 1024 * 1024
/**
 * Calls of one organization about its directory that wait in one front for those before them; beyond it the
 * store is said to be busy. Decision.
 */
export const DIRECTORY_CALLS_WAITING_MAX = 256
