/**
 * Rows that one transaction examines and removes: the transaction holds few locks, and holds them for
 * milliseconds. Decision.
 */
export const PRUNED_AT_ONCE = 1_000
/** Milliseconds between two checks by a runner whether a run of pruning is due. Decision. */
export const PRUNE_LOOK_MS = 5_000
/** Milliseconds between two reads of the oldest rows that are kept. Decision. */
export const OLDEST_LOOK_MS = 60_000
