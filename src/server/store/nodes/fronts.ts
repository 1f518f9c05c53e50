import { FRONT_LIVE_MS, HEARTBEAT_MS } from '../../../schemas/limits/limits.ts'
import type { EpochFeed } from '../../ports/keys/keys.ts'
import type { Log } from '../../ports/observe.ts'
import type { FrontCount } from '../../ports/rates.ts'
import type { RunningEpochFeed } from '../base/epoch-feed.ts'
import type { Queryable, Sql, Store } from '../base/open.ts'
import { every } from '../../structures/ticks.ts'

export interface HeartbeatOptions {
  /** A UUID that identifies this front. */
  readonly frontId: string
  readonly store: Store
  readonly feed: EpochFeed
  /** Name of the node, the same for all of its fronts. */
  readonly node: string
  /** Admin port of the node; null = none. */
  readonly adminPort?: number | null
  /** Connections that the whole node may hold at once. */
  readonly connections: number
  /** Id of the root key with which this front currently wraps keys; left out: the front wraps none. */
  readonly rootKeyId?: () => string
  readonly log: Log
  readonly everyMs?: number
}

export interface Heartbeat extends FrontCount {
  readonly frontId: string
  /** Reports the current state of the feed immediately; false when the store did not accept the report. */
  beat(): Promise<boolean>
  /** Reports a new number of the node's connections immediately, and counts the other fronts. */
  scaled(connections: number): Promise<void>
  /** Removes the row, so that this front no longer counts. */
  close(): Promise<void>
}

/** Milliseconds that one heartbeat may take. */
const BEAT_MS_MAX = 2_000
/** Heartbeats that a new front tries before it serves without a row. */
const ENROL_TRIES = 8
/** Milliseconds after which a new front tries no further heartbeat. */
const ENROL_MS_MAX = 3 * BEAT_MS_MAX

/** Registers this process as a live front, reports the epoch that it has applied, and counts the other fronts. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { frontId, store, feed, log, everyMs = HEARTBEAT_MS } = options
  let { connections } = options
  let liveFronts = 1
  let beating: Promise<void> | null = null
  let reported = -2
  let isClosed = false
  let isAway = false
  /** True when, as far as this front knows, the row is on disk. */
  let isKept = false

  const report = async (): Promise<void> => {
    const { epoch } = feed
    try {
      liveFronts = 1 + (await writeBeat(options, { connections, epoch, isKept }))
      reported = epoch
      isAway = false
      isKept = true
    } catch (problem) {
      if (!isClosed && !isAway) log.warn('heartbeat.failed', { cause: problem })
      isAway = true
      isKept = false
    }
  }
  const beat = async (): Promise<boolean> => {
    // Only one report is sent at a time: of two concurrent ones the earlier might reach the store last, even
    // after the end of this front.
    while (beating !== null) await beating
    if (isClosed) return false
    beating = report()
    await beating
    beating = null
    return !isAway
  }
  // `keys revoke --wait` waits for this report, so a new epoch is reported immediately, in the tick after it was applied.
  const catchUp = async (): Promise<void> => {
    if (isClosed || beating !== null || feed.epoch === reported) return
    const before = reported
    await beat()
    if (reported !== before) await catchUp()
  }
  const leaveFeed = feed.subscribe(() => void setImmediate(() => void catchUp()))
  const beats = every(everyMs, () => {
    if (beating === null) void beat().then(catchUp)
  })
  void beat().then(catchUp)
  return {
    frontId,
    get liveFronts() {
      return liveFronts
    },
    beat,
    async scaled(next) {
      connections = next
      if (!isClosed) await beat()
    },
    async close() {
      isClosed = true
      beats.stop()
      leaveFeed()
      while (beating !== null) await beating
      await removeFront(store, frontId).catch(() => {})
    },
  }
}

interface Beat {
  readonly connections: number
  readonly epoch: number
  readonly isKept: boolean
}

/** A new row is flushed to disk: a crash of Postgres must not lose a front for which `keys revoke --wait` must wait. @returns other live fronts */
async function writeBeat(options: HeartbeatOptions, { connections, epoch, isKept }: Beat): Promise<number> {
  const { frontId, store, node, adminPort = null, rootKeyId = () => null } = options
  const [row] = await store.within(
    BEAT_MS_MAX,
    (sql) => sql<{ count: number }[]>`
        WITH beat AS (
          INSERT INTO fronts (id, node, connections, epoch, root_key_id, admin_port, heartbeat_at)
          VALUES (${frontId}, ${node}, ${connections}, ${epoch}, ${rootKeyId()}, ${adminPort}, clock_timestamp())
          ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, connections = excluded.connections, root_key_id = excluded.root_key_id,
            heartbeat_at = excluded.heartbeat_at)
        SELECT count(*)::int AS count ${isKept ? sql`, ${withoutSync(sql)}` : sql``} FROM fronts
        WHERE id <> ${frontId} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'`,
  )
  return row?.count ?? 0
}

/**
 * Part of a statement that writes a heartbeat: its commit does not wait for the disk. If Postgres loses the
 * heartbeat in a crash of its machine, the next one replaces it.
 */
export function withoutSync(sql: Sql) {
  return sql`set_config('synchronous_commit', 'off', true)`
}

/**
 * Registers a front before it serves, so that `keys revoke --wait` also waits for it. Gives up when the store
 * is unavailable twice (the front then cannot load keys), or does not accept its row (then keys cannot be
 * revoked either).
 */
export async function enrol(
  feed: Pick<RunningEpochFeed, 'poll'>,
  heartbeat: Pick<Heartbeat, 'beat'>,
): Promise<void> {
  const endsAt = performance.now() + ENROL_MS_MAX
  let isAway = false
  for (let tries = 0; tries < ENROL_TRIES && performance.now() < endsAt; tries++) {
    if (await feed.poll()) {
      if (await heartbeat.beat()) return
    } else if (isAway) return
    else isAway = true
  }
}

/** Removes a front's row: the front no longer counts, and revocations do not wait for it. */
export async function removeFront(store: Store, frontId: string): Promise<void> {
  await store.within(BEAT_MS_MAX, (sql) => sql`DELETE FROM fronts WHERE id = ${frontId}`)
}

export interface FrontsAtEpoch {
  /** Number of live fronts that have not reported the epoch yet. */
  readonly behind: number
  /** Fronts that stopped sending heartbeats without removing their row: they are dead, or disconnected from the store. */
  readonly silent: number
}

/** Fronts that have not applied every change up to `epoch`. */
export async function frontsAt(sql: Queryable, epoch: number): Promise<FrontsAtEpoch> {
  const [row] = await sql<FrontsAtEpoch[]>`
    SELECT count(*) FILTER (WHERE is_live)::int AS behind, count(*) FILTER (WHERE NOT is_live)::int AS silent
    FROM (SELECT heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms' AS is_live
          FROM fronts WHERE epoch < ${epoch}) AS late`
  return row ?? { behind: 0, silent: 0 }
}

/** Nodes with live fronts that wrap keys with another root key, or have not reported one. */
export async function nodesOnOtherRootKey(sql: Queryable, rootKeyId: string): Promise<readonly string[]> {
  const rows = await sql<{ node: string }[]>`
    SELECT DISTINCT node FROM fronts
    WHERE root_key_id IS DISTINCT FROM ${rootKeyId} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'
    ORDER BY node`
  return rows.map(({ node }) => node)
}
