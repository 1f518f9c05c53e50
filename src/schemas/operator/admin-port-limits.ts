/** Named limits of the admin port: of the dashboard, its relay and the live view. */

import { MIB } from '../limits/limits.ts'

/** Bytes of the body of a relayed request: an operator's requests are small. Decision. */
export const ADMIN_BODY_BYTES_MAX = MIB
/** Relayed calls in flight; `busy` beyond. Decision. */
export const ADMIN_RELAYS_MAX = 64
/**
 * Milliseconds until the answer of a relayed call begins: longer than the deadline of any operation with such
 * a body. Decision.
 */
export const ADMIN_ANSWER_MS_MAX = 120_000
/**
 * Connections to the admin port at once. Above this number, the connection is closed that has been idle the
 * longest. Decision.
 */
export const ADMIN_CONNECTIONS_MAX = 256
/** Milliseconds until a request has arrived completely. Decision. */
export const ADMIN_REQUEST_MS_MAX = 30_000
/** Milliseconds for which a successful check of an operator's key is cached. Decision. */
export const ADMIN_KEY_MS_MAX = 5_000
/** Operators' keys that are cached, and checks of keys in flight; `busy` beyond. Decision. */
export const ADMIN_KEYS_MAX = 64
/** Milliseconds that a front has to check a key. Decision. */
export const ADMIN_KEY_CHECK_MS_MAX = 3_000
/** Open live views of one node; `busy` beyond. Decision. */
export const LIVE_STREAMS_MAX = 32
/** Milliseconds between two samples of a node's processes while a live view is open. Decision. */
export const LIVE_LOOK_MS = 1_000
/** Milliseconds between the first two samples, so that a page soon has figures. Decision. */
export const LIVE_FIRST_MS = 200
/** Samples from which quantiles and the state of a provider are computed. Decision. */
export const LIVE_LOOKS_KEPT = 10
/** Models that the live view shows figures for: those with the most tokens of input. Decision. */
export const LIVE_MODELS_MAX = 20
/** Milliseconds without progress after which a reader of the live view is cut off. Decision. */
export const LIVE_STALL_MS = 30_000
/** Milliseconds after its last use at which a session of the dashboard ends. A page that is in sight uses it. Decision. */
export const SESSION_IDLE_MS = 15 * 60_000
/** Milliseconds after its sign-in at which a session of the dashboard ends, whatever its use. Decision. */
export const SESSION_MS_MAX = 12 * 60 * 60_000
/** Sessions of one node; beyond, the key with the most loses the session used the longest ago. Decision. */
export const SESSIONS_MAX = 128
/** Random bytes of the id of a session, and of the token of its page. Decision. */
export const SESSION_SECRET_BYTES = 32
