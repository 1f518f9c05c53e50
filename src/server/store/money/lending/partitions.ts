import postgres from 'postgres'
import type { Day } from '../../../ports/money/money.ts'
import type { Queryable, Store } from '../../base/open.ts'

/** Months for which partitions stand ready beside the present one. */
const MONTHS_AHEAD = 2
const CHECK_VIOLATION = '23514'
/** As the schema's `ledger_partition` holds it. */
const MAKING_LOCK = 7_305_848_212

/**
 * Makes the ledger's partitions of this month and the next ones, where they are missing. @returns those that
 * were
 */
export async function ensurePartitions(store: Store): Promise<{ readonly partitions: number }> {
  const before = await countPartitions(store.sql)
  await store.sql`
    SELECT ledger_partition((utc_today() + n * interval '1 month')::date) FROM generate_series(0, ${MONTHS_AHEAD}::int) AS n`
  return { partitions: (await countPartitions(store.sql)) - before }
}

/**
 * Runs something that writes to the ledger; where the month of a day has no partition, makes it and runs it
 * again. In a transaction of its own: nobody waits for it.
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
      // One that somebody has just made can be seen before this connection is told to forget that the month
      // had none; it is told before he lets go of what he held while he made it.
      await tx`SELECT pg_advisory_xact_lock(${MAKING_LOCK})`
      await tx`SELECT ledger_partition(day::date) FROM unnest(string_to_array(${[...firsts].join(',')}, ',')) AS day`
    })
    return write()
  }
}

/**
 * A check that fails has a name, and this has none; what the server says of it is in the server's language.
 */
function isPartitionMissing(problem: unknown): boolean {
  return (
    problem instanceof postgres.PostgresError &&
    problem.code === CHECK_VIOLATION &&
    problem.constraint_name === undefined
  )
}

async function countPartitions(sql: Queryable): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'ledger'::regclass`
  return row?.count ?? 0
}
