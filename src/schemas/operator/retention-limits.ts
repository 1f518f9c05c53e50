/** Of the settings that say how many days or whole months something is kept. Decision. */
export const KEPT_DAYS_MAX = 3_650
export const KEPT_MONTHS_MAX = 1_200
/**
 * Rows that one transaction looks at and removes: it holds few locks, and those for milliseconds. Decision.
 */
export const PRUNED_AT_ONCE = 1_000
/** Blocks of a month of the ledger that one transaction adds up: 2 MiB. Decision. */
export const LEDGER_BLOCKS_AT_ONCE = 256
/** Accounts that one transaction turns to the present day. Decision. */
export const ACCOUNTS_TURNED_AT_ONCE = 1_000
/**
 * Milliseconds of rest for each millisecond that a batch took, and of one rest at most: pruning takes a fifth
 * of one connection. Decision.
 */
export const PRUNE_REST_TIMES = 4
export const PRUNE_REST_MS_MAX = 2_000
/**
 * Milliseconds between two runs of pruning on one database, and between two looks of a runner whether one is
 * due. Decision.
 */
export const PRUNE_EVERY_MS = 600_000
export const PRUNE_LOOK_MS = 5_000
/** Milliseconds without a batch until another process may go on in the place of one that prunes. Decision. */
export const PRUNE_LEASE_MS = 60_000
/** Milliseconds between two looks at the oldest rows that are kept. Decision. */
export const OLDEST_LOOK_MS = 60_000
