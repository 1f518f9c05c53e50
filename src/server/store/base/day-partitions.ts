import type {
  KeptFor,
  PruneEnd,
  PruneStep,
  RetentionKind,
  RetentionLease,
} from '../../ports/operator/retention.ts'
import { makerOf, makingPartitions, tellOfPartitions, type PartitionedTable } from './missing-partition.ts'
import type { Queryable, Store } from './open.ts'
import { renewLease } from './retention-lease.ts'

/** Days whose partitions are created in advance, in addition to the current one. */
const DAYS_AHEAD = 2
/** Milliseconds that dropping a day's partition waits for readers and writers of the table. Decision. */
const DAY_DROP_WAIT_MS = 500

/** A table with a partition for each UTC day. */
export interface DailyTable extends PartitionedTable {
  readonly table: 'generations' | 'generation_records' | 'requests' | 'request_segments'
  /** The column with the number of rows that a row of the table represents; left out: 1. */
  readonly counted?: 'calls'
}

/** Creates missing partitions for today and the next days. @returns number of new ones */
export async function ensureDays(
  { sql }: Store,
  daily: DailyTable,
): Promise<{ readonly partitions: number }> {
  const before = (await daysOf(sql, daily)).length
  await sql`SELECT ${sql(makerOf(daily))}(utc_today() + n) FROM generate_series(0, ${DAYS_AHEAD}::int) AS n`
  const partitions = (await daysOf(sql, daily)).length - before
  if (partitions > 0) await tellOfPartitions(sql, daily)
  return { partitions }
}

/** Runs a write; if the days of these times (Unix milliseconds) have no partitions, creates them first. */
export function withDays<T>(
  store: Store,
  { daily, instants }: { readonly daily: DailyTable; readonly instants: () => Iterable<number> },
  write: () => Promise<T>,
): Promise<T> {
  const days = (): readonly string[] =>
    Array.from(instants(), (ms) => new Date(ms).toISOString().slice(0, 10))
  return makingPartitions(store, daily, days, write)
}

/**
 * Drops whole days of a kind of rows, in each of its tables: a day is dropped when its last row is old enough.
 * @param keptDays 0 = rows are kept forever
 */
export function prunedDays(
  store: Store,
  { kind, tables }: { readonly kind: RetentionKind; readonly tables: readonly DailyTable[] },
  keptDays: number,
): PruneStep {
  const keptFor: KeptFor = keptDays < 1 ? null : { count: keptDays, unit: 'days' }
  return {
    kind,
    keptFor,
    async *run(lease): AsyncGenerator<number, PruneEnd, void> {
      for (const daily of tables)
        for (const partition of await dueOf(store.sql, daily, keptDays)) {
          const rows = await drop(store, { partition, daily, lease })
          if (rows === null) return 'lost'
          yield rows
        }
      return 'done'
    },
    async due() {
      let rows = 0
      for (const daily of tables)
        for (const partition of await dueOf(store.sql, daily, keptDays))
          rows += await rowsOf(store, partition, daily)
      return rows
    },
    async oldest() {
      const days = await Promise.all(tables.map((daily) => oldestOf(store.sql, daily)))
      const [oldest] = days.filter((day) => day !== null).sort()
      return oldest === undefined ? null : new Date(`${oldest}T00:00:00Z`)
    },
  }
}

/** The first day that has a row, `YYYY-MM-DD`. */
async function oldestOf(sql: Queryable, daily: DailyTable): Promise<string | null> {
  for (const { partition, day } of await daysOf(sql, daily)) {
    const [row] = await sql`SELECT FROM ${sql(partition)} LIMIT 1`
    if (row !== undefined) return day
  }
  return null
}

interface Day {
  readonly partition: string
  /** `YYYY-MM-DD` */
  readonly day: string
}

/** The days that have a partition, oldest first. */
async function daysOf(sql: Queryable, { table }: DailyTable): Promise<readonly Day[]> {
  const rows = await sql<Day[]>`
    SELECT c.relname::text AS partition, to_date(right(c.relname, 10), 'YYYY_MM_DD')::text AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = ${table}::text::regclass ORDER BY day`
  // Only a name in Sluice's own form may become part of a statement.
  return rows.filter(
    ({ partition }) =>
      partition.startsWith(`${table}_`) && /^\d{4}_\d{2}_\d{2}$/.test(partition.slice(table.length + 1)),
  )
}

async function dueOf(sql: Queryable, daily: DailyTable, keptDays: number): Promise<readonly string[]> {
  if (keptDays < 1) return []
  const [row] = await sql<{ first: string }[]>`SELECT (utc_today() - ${keptDays}::int)::text AS first`
  const first = row?.first ?? ''
  return (await daysOf(sql, daily)).filter(({ day }) => day < first).map(({ partition }) => partition)
}

interface DueDay {
  readonly partition: string
  readonly daily: DailyTable
  readonly lease: RetentionLease
}

/** @returns number of dropped rows; null when another process has the lease */
function drop({ sql }: Store, { partition, daily, lease }: DueDay): Promise<number | null> {
  return sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${DAY_DROP_WAIT_MS}`)
    if (!(await renewLease(tx, lease))) return null
    const rows = await count(tx, partition, daily)
    // The last statement, since it waits for every reader of the table and blocks its writers meanwhile.
    await tx`DROP TABLE IF EXISTS ${tx(partition)}`
    return rows
  })
}

function rowsOf({ sql }: Store, partition: string, daily: DailyTable): Promise<number> {
  return sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    return count(tx, partition, daily)
  })
}

async function count(sql: Queryable, partition: string, { counted }: DailyTable): Promise<number> {
  const rows = counted === undefined ? sql`count(*)` : sql`coalesce(sum(${sql(counted)}), 0)`
  const [row] = await sql<{ rows: number }[]>`SELECT ${rows}::float8 AS rows FROM ${sql(partition)}`
  return row?.rows ?? 0
}
