import type { Day } from '../../../ports/money/money.ts'
import { makingPartitions, tellOfPartitions, type PartitionedTable } from '../../base/missing-partition.ts'
import type { Queryable, Store } from '../../base/open.ts'

/** Months whose partitions are created in advance, in addition to the current one. */
const MONTHS_AHEAD = 2
const LEDGER: PartitionedTable = { table: 'ledger', keyColumn: 'day' }

/** Creates missing partitions of the ledger for this month and the next ones. @returns number of new partitions */
export async function ensurePartitions(store: Store): Promise<{ readonly partitions: number }> {
  const before = await countPartitions(store.sql)
  await store.sql`
    SELECT ledger_partition((utc_today() + n * interval '1 month')::date) FROM generate_series(0, ${MONTHS_AHEAD}::int) AS n`
  const partitions = (await countPartitions(store.sql)) - before
  if (partitions > 0) await tellOfPartitions(store.sql, LEDGER)
  return { partitions }
}

/** Runs a write to the ledger; if the month of a day has no partition, creates it first. */
export function withPartitions<T>(
  store: Store,
  days: () => Iterable<Day> | Promise<Iterable<Day>>,
  write: () => Promise<T>,
): Promise<T> {
  const firsts = async (): Promise<readonly string[]> =>
    Array.from(await days(), (day) => `${day.slice(0, 7)}-01`)
  return makingPartitions(store, LEDGER, firsts, write)
}

async function countPartitions(sql: Queryable): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'ledger'::regclass`
  return row?.count ?? 0
}
