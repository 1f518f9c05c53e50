import { FRONT_LIVE_MS, HEARTBEAT_MS } from '../../../schemas/limits/limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { Queryable, Store } from '../base/open.ts'
import { withoutSync } from './fronts.ts'
import { every } from '../../structures/ticks.ts'

export interface RunnerHeartbeatOptions {
  /** A UUID that identifies this runner. */
  readonly runnerId: string
  readonly store: Store
  readonly log: Log
  readonly everyMs?: number
}

export interface RunnerHeartbeat {
  /** Number of live runners, including this one, as last read from the store. */
  readonly liveRunners: number
  /** Removes the row, so that this runner no longer counts. */
  close(): Promise<void>
}

/** Milliseconds that one heartbeat may take. */
const BEAT_MS_MAX = 2_000

export function startRunnerHeartbeat({
  runnerId,
  store,
  log,
  everyMs = HEARTBEAT_MS,
}: RunnerHeartbeatOptions): RunnerHeartbeat {
  let liveRunners = 1
  let beating: Promise<void> | null = null
  let isAway = false
  const beat = async (): Promise<void> => {
    try {
      const [row] = await store.within(
        BEAT_MS_MAX,
        (sql) => sql<{ count: number }[]>`
        WITH beat AS (
          INSERT INTO runners (id, heartbeat_at) VALUES (${runnerId}, clock_timestamp())
          ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at)
        SELECT count(*)::int AS count, ${withoutSync(sql)} FROM runners
        WHERE id <> ${runnerId} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'`,
      )
      liveRunners = 1 + (row?.count ?? 0)
      isAway = false
    } catch (cause) {
      if (!isAway) log.warn('runner_heartbeat_failed', { cause })
      isAway = true
    }
  }
  const turn = (): void => {
    beating ??= beat().finally(() => {
      beating = null
    })
  }
  const beats = every(everyMs, turn)
  turn()
  return {
    get liveRunners() {
      return liveRunners
    },
    async close() {
      beats.stop()
      await beating
      await store
        .within(BEAT_MS_MAX, (sql) => sql`DELETE FROM runners WHERE id = ${runnerId}`)
        .catch(() => undefined)
    },
  }
}

/** Removes the rows of runners that died without removing them. @returns number of rows */
export async function pruneRunners(sql: Queryable): Promise<number> {
  const { count } =
    await sql`DELETE FROM runners WHERE heartbeat_at < clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'`
  return count
}
