/** Days of a retention setting. Decision. */
export const KEPT_DAYS_MAX = 3_650
/** Months of a retention setting that counts whole months. Decision. */
export const KEPT_MONTHS_MAX = 1_200
/**
 * Rows that one transaction examines and removes: the transaction holds few locks, and holds them for
 * milliseconds. Decision.
 */
export const PRUNED_AT_ONCE = 1_000
/** Blocks of a month of the ledger that one transaction adds up: 2 MiB. Decision. */
export const LEDGER_BLOCKS_AT_ONCE = 256
/** Accounts that one transaction moves to the present day. Decision. */
export const ACCOUNTS_TURNED_AT_ONCE = 1_000
/**
 * Milliseconds of rest for each millisecond that a batch took: pruning takes a fifth of one connection.
 * Decision.
 */
export const PRUNE_REST_TIMES = 4
/** Milliseconds of one rest between two batches. Decision. */
export const PRUNE_REST_MS_MAX = 2_000
/** Milliseconds between two runs of pruning on one database. Decision. */
export const PRUNE_EVERY_MS = 600_000
/** Milliseconds between two checks by a runner whether a run of pruning is due. Decision. */
export const PRUNE_LOOK_MS = 5_000
/** Milliseconds without a batch after which another process may continue a run of pruning. Decision. */
export const PRUNE_LEASE_MS = 60_000
/** Milliseconds between two reads of the oldest rows that are kept. Decision. */
export const OLDEST_LOOK_MS = 60_000
