import { MIB } from '../limits/limits.ts'

/** Named limits of workspaces, each with its unit and its source. */

/** Characters of an organization's, workspace's or key's name. B2.9; Decision for the others. */
export const NAME_CHARS_MAX = 100
/** Characters of a workspace's slug. B2.9. */
export const SLUG_CHARS_MAX = 50
/** Characters of a workspace's description. B2.9. */
export const DESCRIPTION_CHARS_MAX = 500
/** Workspaces of a page, and members of a workspace. Decision. */
export const WORKSPACES_PAGE_MAX = 100
/** Workspaces of a page, and members of a workspace, when the request names no number. B3.1. */
export const WORKSPACES_PAGE_DEFAULT = 50
/** Rows that a request for workspaces or members may skip. Decision. */
export const WORKSPACES_OFFSET_MAX = 1_000_000
/** Characters of a callback URL. Decision. */
export const CALLBACK_URL_CHARS_MAX = 2_048
/** Bytes of a body that creates or changes an intern. B2.4. */
export const INTERN_BODY_BYTES_MAX = MIB
/** Interns of one page. B2. */
export const INTERNS_PAGE_MAX = 100
/** Interns of one page when the request names no number. B2. */
export const INTERNS_PAGE_DEFAULT = 50
