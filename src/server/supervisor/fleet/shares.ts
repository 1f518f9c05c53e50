export const FRONT_POOL_MAX = 3
/** Postgres connections of a runner's pool. */
export const RUNNER_POOL_MAX = 6
/** Postgres connections for a front's money: one updates the books while the other one fetches money for which calls wait. */
export const MONEY_POOL_MAX = 2
/**
 * Postgres connections for loading keys, separate from the pool: a caller's transactions that wait for each
 * other must not block the keys of others.
 */
export const KEY_POOL_MAX = 1
/**
 * Postgres connections for uploads and writes of container files, separate from the pool: writes of one workspace that
 * wait for each other must not block the reads of others. An organization uses at most two of them, so that the third
 * is left for another organization.
 */
export const FILE_POOL_MAX = 3
/** All Postgres connections of a front: one more than its pools, for the poll of the epoch. */
export const FRONT_CONNECTIONS = FRONT_POOL_MAX + MONEY_POOL_MAX + KEY_POOL_MAX + FILE_POOL_MAX + 1

/**
 * Threads for long sessions of each front: distributed evenly, at least one each. Their sum is the effective number of
 * workers. Design §2.
 */
export function sessionThreads(workers: number, fronts: number): readonly number[] {
  const each = Math.floor(workers / fronts)
  return Array.from({ length: fronts }, (_, slot) => Math.max(1, each + (slot < workers % fronts ? 1 : 0)))
}

/** Connections in addition to those of fronts and runners: for the supervisor and verbs of the command line. */
const SPARE_CONNECTIONS = 5

export interface Children {
  readonly fronts: number
  readonly runners: number
}

/** Connections that this node may hold at once: after a roll the replaced children still hold theirs. Design §2. */
export function connectionsNeeded({ fronts, runners }: Children): number {
  return 2 * (fronts * FRONT_CONNECTIONS + runners * RUNNER_POOL_MAX) + SPARE_CONNECTIONS
}

/** Connections that Postgres reserves for superusers by default. */
const SUPERUSER_CONNECTIONS = 3
/** Default of Postgres: a lower number would save nothing. */
const CONNECTIONS_MIN = 100

/**
 * `max_connections` of the embedded Postgres, which can change only at a start: it leaves room for reloads that double
 * the number of children.
 */
export function connectionsToServe({ fronts, runners }: Children): number {
  const needed = connectionsNeeded({ fronts: 2 * fronts, runners: 2 * runners })
  return Math.max(CONNECTIONS_MIN, needed + SUPERUSER_CONNECTIONS)
}
