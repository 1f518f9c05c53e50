/** Limits of a load test of a running deployment, which may have other users. */

/**
 * Requests a second of all connections together: to find the end of a server, an operator uses a separate
 * server. Decision.
 */
export const DEPLOYMENT_RATE_MAX = 2_000
/** Requests a second by default. Decision. */
export const DEPLOYMENT_RATE_DEFAULT = 50
/** Seconds of one cell. Decision. */
export const DEPLOYMENT_CELL_SECONDS_MAX = 300
/** Seconds of all cells together: a longer test is refused before it begins. Decision. */
export const DEPLOYMENT_SECONDS_MAX = 1_800
/** Connections at once. Decision. */
export const DEPLOYMENT_CONNECTIONS_MAX = 64
/** Files a second. Decision. */
export const DEPLOYMENT_UPLOADS_PER_S_MAX = 5
/** Bytes of an uploaded file. Decision. */
export const DEPLOYMENT_UPLOAD_BYTES_MAX = 20_000_000
/** Tries to remove a file: the file must not stay because the key's limit is reached. Decision. */
export const REMOVALS_MAX = 3
/** Seconds for each read-only operation, of which there are many. Decision. */
export const OPERATION_SECONDS = 2
/** Milliseconds for each of the few requests that test the deployment before the load. Decision. */
export const REACH_MS = 10_000
/** Addresses of a host name that are tried. Decision. */
export const ADDRESSES_MAX = 4
/**
 * Share of failures in a cell above which the test ends: it must not load a failing deployment further.
 * Decision.
 */
export const FAILED_SHARE_MAX = 0.5
