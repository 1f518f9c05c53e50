import { MIB } from '../limits/limits.ts'

/** Named limits of workspace, each once, with its unit and its source. */

/** Characters of an organization's, workspace's or key's name. B2.9; Decision for the others. */
export const NAME_CHARS_MAX = 100
/** Characters of a workspace's slug. B2.9. */
export const SLUG_CHARS_MAX = 50
/** Characters of a workspace's description. B2.9. */
export const DESCRIPTION_CHARS_MAX = 500
/**
 * Workspaces, or members of one, of a page, when no number is asked for, and how many may be skipped. B3.1;
 * Decision for the most.
 */
export const WORKSPACES_PAGE_MAX = 100
export const WORKSPACES_PAGE_DEFAULT = 50
export const WORKSPACES_OFFSET_MAX = 1_000_000
/**
 * Characters of a setting of a workspace that Sluice keeps for its callers, and entries of a list of them.
 * Decision.
 */
export const KEPT_TEXT_CHARS_MAX = 256
export const KEPT_LIST_MAX = 1_000
/** Characters of a callback URL. Decision. */
export const CALLBACK_URL_CHARS_MAX = 2_048
/** Bytes of the body that makes or changes an intern. B2.4. */
export const INTERN_BODY_BYTES_MAX = MIB
/** Interns of one page, and when no number is asked for. B2. */
export const INTERNS_PAGE_MAX = 100
export const INTERNS_PAGE_DEFAULT = 50
