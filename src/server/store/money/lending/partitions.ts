import type { Day } from '../../../ports/money/money.ts'
import { isPartitionMissing } from '../../base/missing-partition.ts'
import type { Queryable, Store } from '../../base/open.ts'

/** Months with partitions made in advance, beside the current one. */
const MONTHS_AHEAD = 2
/** The advisory lock that the schema's `ledger_partition` takes. */
const MAKING_LOCK = 7_305_848_212

/**
 * Makes the ledger's partitions of this month and the next ones, where they are missing. @returns number of
 * new partitions
 */
export async function ensurePartitions(store: Store): Promise<{ readonly partitions: number }> {
  const before = await countPartitions(store.sql)
  await store.sql`
    SELECT ledger_partition((utc_today() + n * interval '1 month')::date) FROM generate_series(0, ${MONTHS_AHEAD}::int) AS n`
  return { partitions: (await countPartitions(store.sql)) - before }
}

/**
 * Runs a write to the ledger; where the month of a day has no partition, makes the partition and runs the
 * write again. The partition has a transaction of its own, so that other writers do not wait.
 */
export async function withPartitions<T>(
  store: Store,
  days: () => Iterable<Day> | Promise<Iterable<Day>>,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (problem) {
    if (!isPartitionMissing(problem)) throw problem
    const firsts = new Set([...(await days())].map((day) => `${day.slice(0, 7)}-01`))
    await store.sql.begin(async (tx) => {
      // A partition that another transaction has just made may be visible before this connection is told to
      // drop its cached plan without it. That message comes before the maker releases this lock.
      await tx`SELECT pg_advisory_xact_lock(${MAKING_LOCK})`
      await tx`SELECT ledger_partition(day::date) FROM unnest(string_to_array(${[...firsts].join(',')}, ',')) AS day`
    })
    return write()
  }
}

async function countPartitions(sql: Queryable): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'ledger'::regclass`
  return row?.count ?? 0
}
