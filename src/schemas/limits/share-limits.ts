/** Named limits of the resources of a front that organizations share, each with its unit and its source. */

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of answers in one front that the clients of one organization have not read. Above it, further reads
 * of the organization fail with `busy` until clients have read their answers or disconnected. Decision.
 */
export const UNREAD_ANSWERS_BYTES_MAX = 64 * MIB
/**
 * Percent of a front's event loop for one organization's calls to operations that list no 429, while another
 * organization calls too. Calls above the share wait and are never refused. Decision.
 */
export const LOOP_SHARE_PERCENT = 20
/**
 * Milliseconds without a call by another organization after which an organization counts as the only caller.
 * Decision.
 */
export const LOOP_OTHERS_MS = 1_000
/** Bytes of an answer that is never dropped because of unread answers. Decision. */
export const UNREAD_SMALL_BYTES = 64 * KIB
