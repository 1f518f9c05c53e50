/** Characters of a filter. Decision. */
export const SCIM_FILTER_CHARS_MAX = 4_096
/** Comparisons of one filter. Decision. */
export const SCIM_FILTER_TERMS_MAX = 100
/** Parentheses, brackets and `not` of one filter, which may all lie within each other. Decision. */
export const SCIM_FILTER_NESTING_MAX = 20
/** Users or groups of a page of the SCIM service; whoever asks for more gets so many. Decision. */
export const SCIM_RESULTS_MAX = 200
/** Members of all groups of one page of a list; whoever leaves them out has no such limit. Decision. */
export const SCIM_LISTED_MEMBERS_MAX = 200_000
/** Ids of members that joined, and of those that left, in one row of the audit log; the counts are always whole. Decision. */
export const SCIM_AUDITED_MEMBERS_MAX = 50
