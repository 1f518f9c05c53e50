/** Limits of the admin port: of the dashboard, its relay and the live view. */

import { MIB } from '../limits/limits.ts'

/** Bytes of a request's body that is relayed: what an operator does is small. Decision. */
export const ADMIN_BODY_BYTES_MAX = MIB
/** Relayed calls under way; `busy` beyond. Decision. */
export const ADMIN_RELAYS_MAX = 64
/**
 * Milliseconds that the answer of a relayed call may take to begin, longer than any operation's deadline for
 * such a body. Decision.
 */
export const ADMIN_ANSWER_MS_MAX = 120_000
/**
 * Connections to the admin port at once; beyond, the one is closed that has waited longest without a call.
 * Decision.
 */
export const ADMIN_CONNECTIONS_MAX = 256
/** Milliseconds that a request may take to arrive whole. Decision. */
export const ADMIN_REQUEST_MS_MAX = 30_000
/** Milliseconds that a key which was found to be an operator's is believed to be one still. Decision. */
export const ADMIN_KEY_MS_MAX = 5_000
/** Keys that are known to be an operator's, and looks at keys under way; `busy` beyond. Decision. */
export const ADMIN_KEYS_MAX = 64
/** Milliseconds that a front may take to say whose a key is. Decision. */
export const ADMIN_KEY_CHECK_MS_MAX = 3_000
/** Open live views of one node; `busy` beyond. Decision. */
export const LIVE_STREAMS_MAX = 32
/** Milliseconds between two looks at the processes of a node while a live view is open. Decision. */
export const LIVE_LOOK_MS = 1_000
/** Looks behind a quantile and the state of a provider. Decision. */
export const LIVE_LOOKS_KEPT = 10
/** Milliseconds without progress after which a reader of the live view is cut. Decision. */
export const LIVE_STALL_MS = 30_000
