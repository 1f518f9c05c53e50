/** Named limits of what organizations share of one front, each with its unit and its source. */

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of answers in one front that the clients of one organization have not read. Above it the
 * organization's further reads are `busy` until clients have read or their connections have ended. Decision.
 */
export const UNREAD_ANSWERS_BYTES_MAX = 64 * MIB
/**
 * Percent of a front's event loop for one organization's calls to operations that list no 429, while another
 * organization calls too. Calls above the share wait and are never refused. Decision.
 */
export const LOOP_SHARE_PERCENT = 20
/** Milliseconds of the loop by which an organization may exceed LOOP_SHARE_PERCENT. Decision. */
export const LOOP_BURST_MS = 50
/**
 * Milliseconds without a call by another organization after which an organization calls alone.
 * Decision.
 */
export const LOOP_OTHERS_MS = 1_000
/**
 * Milliseconds after which a waiting call goes on whatever its organization has used, one call a tick.
 * Decision.
 */
export const LOOP_WAIT_MS_MAX = 3_000
/**
 * Calls by one organization, to operations that list no 429, that a front runs at once while another
 * organization calls too: half of the front's connections to Postgres. A client that calls faster than the
 * answers come would otherwise hold all connections. The other calls wait as for the loop. Decision.
 */
export const SHARED_CALLS_MAX = 2
/** Microseconds of the loop that a call costs beyond the measured time. Decision. */
export const LOOP_CALL_US = 200
/** Bytes of an answer that cost a millisecond of the loop. Decision. */
export const LOOP_WRITTEN_BYTES_PER_MS = 64 * KIB
/** Bytes of an answer that is never dropped because of unread answers. Decision. */
export const UNREAD_SMALL_BYTES = 64 * KIB
/** Bytes that count as unread for one piece of a download. Decision. */
export const UNREAD_PIECE_BYTES = 256 * KIB
/**
 * Bytes of a provider's stream that are read and passed on in one turn of a front's event loop; the rest leaves
 * in the next turns, and its connection is not read meanwhile. Decision.
 */
export const STREAM_TURN_BYTES_MAX = 64 * KIB
/** Milliseconds of the loop that one stream uses in a turn of it. Decision. */
export const STREAM_TURN_MS_MAX = 2
/** Milliseconds of the loop that all streams of an organization use in a turn of it. Decision. */
export const ORGANIZATION_TURN_MS_MAX = 8
/**
 * Microseconds of the same while another organization is active: what its calls wait for in each of the turns
 * that they need. Decision.
 */
export const ORGANIZATION_TURN_AMONG_US = 500
/**
 * Milliseconds, and up to one more, for which the streams of an organization above its part of the loop wait
 * after a turn: a front that is never idle is scheduled after the other processes of its cores. Decision.
 */
export const ORGANIZATION_REST_MS = 1
/**
 * Milliseconds of the last second that the calls to models of all others used, below which no organization
 * rests: a few calls are no reason to leave the loop idle. Decision.
 */
export const REST_OTHERS_MS_LEAST = 10
/**
 * Milliseconds of one turn of the loop above which turns are slow: then the calls to models of an organization
 * above its part are held while another organization is active. Decision.
 */
export const LOOP_SLOW_MS = 20
/**
 * Least percent of the loop for one organization's calls to models, however many organizations are active; its
 * part is the loop divided by their number. Decision.
 */
export const ORGANIZATION_PERCENT_MIN = 20
/** Milliseconds that a new call to a model is held at most. Decision. */
export const CALL_HELD_MS_MAX = 100
