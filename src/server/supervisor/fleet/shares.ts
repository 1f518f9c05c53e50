/** Postgres connections of a front's pool and of a runner's. */
export const FRONT_POOL_MAX = 4
export const RUNNER_POOL_MAX = 6
/**
 * A front's money has its own: one brings the books up to date while another one fetches what calls wait for.
 */
export const MONEY_POOL_MAX = 2
/**
 * Loads of keys have their own: transactions of one caller that wait for each other keep no key of others
 * out.
 */
export const KEY_POOL_MAX = 1
/** What a front may hold in all: the poll of the epoch has a connection of its own. */
export const FRONT_CONNECTIONS = FRONT_POOL_MAX + MONEY_POOL_MAX + KEY_POOL_MAX + 1

/**
 * Threads for long sessions, by front: shared out evenly, at least one each. Their sum is the effective
 * number of workers. Design §2.
 */
export function sessionThreads(workers: number, fronts: number): readonly number[] {
  const each = Math.floor(workers / fronts)
  return Array.from({ length: fronts }, (_, slot) => Math.max(1, each + (slot < workers % fronts ? 1 : 0)))
}

/** Beside those of fronts and runners: the supervisor itself and verbs of the command line. */
const SPARE_CONNECTIONS = 5

export interface Children {
  readonly fronts: number
  readonly runners: number
}

/** Connections that this node may hold at once: after a roll the replaced still hold theirs. Design §2. */
export function connectionsNeeded({ fronts, runners }: Children): number {
  return 2 * (fronts * FRONT_CONNECTIONS + runners * RUNNER_POOL_MAX) + SPARE_CONNECTIONS
}

/** What Postgres keeps for its superusers, by its own default. */
const SUPERUSER_CONNECTIONS = 3
/** The default of Postgres: fewer would save nothing. */
const CONNECTIONS_MIN = 100

/**
 * `max_connections` of our own Postgres, which takes another number only at a start: room for reloads that
 * double the number of children.
 */
export function connectionsToServe({ fronts, runners }: Children): number {
  const needed = connectionsNeeded({ fronts: 2 * fronts, runners: 2 * runners })
  return Math.max(CONNECTIONS_MIN, needed + SUPERUSER_CONNECTIONS)
}
