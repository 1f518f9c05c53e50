import { readPostgresUrl } from '../../schemas/values/store-urls.ts'
import { readCount } from '../journal/kept-count.ts'
import { journalsFolder, segmentFiles } from '../journal/segments.ts'
import { certainSkewMs, readingOf } from '../observe/clock-reading.ts'
import type { Log } from '../ports/observe.ts'
import { connectionBudget, connectionLimit, connectionsUsed } from '../store/base/connection-budget.ts'
import { openStore, type Queryable } from '../store/base/open.ts'
import { PoolerRefused, throughPooler } from '../store/base/pooler.ts'
import { isComingUp } from '../store/base/translate.ts'
import { seedFirst } from '../store/lifecycle/first-start.ts'
import { migrate } from '../store/migrations/migrate.ts'
import { removeFront } from '../store/nodes/fronts.ts'
import {
  joinInstallation,
  lastBackup,
  leaveInstallation,
  readInstallation,
} from '../store/nodes/installation.ts'
import { abandoned, openJournals } from '../store/nodes/journals.ts'
import { stepsBehind } from '../store/money/money-counts.ts'
import { rootKeyUses } from '../store/vault/root-rotation.ts'
import type { NodeSetup, StoreFigures } from '../supervisor/node-setup.ts'
import { StartRefused } from '../supervisor/start-refused.ts'

/** Milliseconds that the supervisor's probe of Postgres may take. */
const PROBE_MS_MAX = 400
/** Milliseconds that reading figures for the metrics may take. Decision. */
const FIGURES_MS_MAX = 5_000
/** Milliseconds that an ending node waits for Postgres to record its end. */
const LEAVE_MS_MAX = 1_000

/** Detects a pooler in front of Postgres, for every connection of the node. */
export const reachPostgres: NodeSetup['reachPostgres'] = async (url) => {
  try {
    return { isAway: false, url: await throughPooler(url) }
  } catch (cause) {
    if (cause instanceof PoolerRefused) throw new StartRefused(cause.message, { cause })
    if (!isComingUp(cause)) throw cause
    return { isAway: true, cause }
  }
}

/** The supervisor's access to Postgres. */
export function openNodeStore(log: Log): NodeSetup['openStore'] {
  return (url, { node, path }) => {
    const store = openStore({ url, poolMax: 1, applicationName: 'sluice-supervisor' })
    return {
      migrate: () =>
        migrate(url, log)
          // Checked now, since the following steps do not retry.
          .then(() => store.sql`SELECT 1`)
          .then(
            () => ({ isAway: false }),
            (cause: unknown) => {
              if (!isComingUp(cause)) throw cause
              return { isAway: true, cause }
            },
          ),
      // A pooler in transaction mode shares few connections among all its clients.
      connections: async (wanted) =>
        readPostgresUrl(url).pooler === 'transaction'
          ? { fits: true, available: wanted, by: 'max_connections', elsewhere: 0 }
          : connectionBudget(store.sql, node, wanted),
      makeFirstKeys: async (keep) => {
        const made = await seedFirst(store, keep)
        if (!made.ok) throw new Error('the first keys could not be created', { cause: made.failure.cause })
        return made.value
      },
      rootKeyUses: () => rootKeyUses(store.sql),
      isUp: () => store.checkWritable(PROBE_MS_MAX).then(() => true),
      figures: () => store.within(FIGURES_MS_MAX, (sql) => figuresOf(sql, { node, dataDir: path })),
      installation: () => readInstallation(store.sql, node),
      join: (seen, places) => joinInstallation(store.sql, { node, seen, places }),
      leave: () => store.within(LEAVE_MS_MAX, (sql) => leaveInstallation(sql, node)).catch(() => undefined),
      // If the store is unavailable, the row expires by itself when heartbeats stop.
      removeFront: (id) => removeFront(store, id).catch(() => undefined),
      close: () => store.close(),
    }
  }
}

async function figuresOf(
  sql: Queryable,
  { node, dataDir }: { readonly node: string; readonly dataDir: string },
): Promise<StoreFigures> {
  const clockSkewMs = await skewOf(sql)
  const { available, by } = await connectionLimit(sql)
  const files = new Set(segmentFiles(journalsFolder(dataDir)).map(({ id }) => id))
  return {
    connections: { used: await connectionsUsed(sql, by), allowed: available },
    abandonedJournals: abandoned(await openJournals(sql), { own: node, files }).length,
    moneyStepsBehind: await stepsBehind(sql, { node, kept: readCount(dataDir) }),
    backedUpAt: await lastBackup(sql),
    clockSkewMs,
  }
}

async function skewOf(sql: Queryable): Promise<number> {
  // The connection is opened before its clock is read.
  await sql`SELECT 1`
  const beganMs = Date.now()
  const [row] = await sql<{ at: number }[]>`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at`
  return certainSkewMs(readingOf(row?.at ?? beganMs, { beganMs, endedMs: Date.now() }))
}
