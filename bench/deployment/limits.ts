/** What a load test of a running deployment never goes beyond. Somebody else's users may be on it. */

/**
 * Requests a second, of all connections together: whoever wants to know where a server ends has one of his
 * own for that. Decision.
 */
export const DEPLOYMENT_RATE_MAX = 2_000
/** Requests a second unless more are asked for. Decision. */
export const DEPLOYMENT_RATE_DEFAULT = 50
/** Seconds of one cell. Decision. */
export const DEPLOYMENT_CELL_SECONDS_MAX = 300
/** Seconds of all cells together: what takes longer is refused before it begins. Decision. */
export const DEPLOYMENT_SECONDS_MAX = 1_800
/** Connections at once. Decision. */
export const DEPLOYMENT_CONNECTIONS_MAX = 64
/** Files a second, and the bytes of one. Decision. */
export const DEPLOYMENT_UPLOADS_PER_S_MAX = 5
export const DEPLOYMENT_UPLOAD_BYTES_MAX = 20_000_000
/** Times that the removal of a file is tried: it must not stay because the key's limit is met. Decision. */
export const REMOVALS_MAX = 3
/** Seconds for each operation that only reads; there are many of them. Decision. */
export const OPERATION_SECONDS = 2
/**
 * Milliseconds for each of the few requests that are sent before the load, to see whether all is well.
 * Decision.
 */
export const REACH_MS = 10_000
/** Addresses of a name that are tried. Decision. */
export const ADDRESSES_MAX = 4
/** Of a cell's answers so many may be failures: a deployment that is ill is left alone. Decision. */
export const FAILED_SHARE_MAX = 0.5
