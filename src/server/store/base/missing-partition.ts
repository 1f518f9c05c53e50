import postgres from 'postgres'
import type { Store } from './open.ts'

/** SQLSTATE of a violated check, also for a row without a partition. */
const CHECK_VIOLATION = '23514'

/** How the schema makes the partitions of a table. */
export interface PartitionMaker {
  /** The schema's function, which takes a day of the partition. */
  readonly maker: string
  /** The advisory lock that this function takes. */
  readonly makingLock: number
}

export interface MissingPartitions extends PartitionMaker {
  /** Days whose partitions the write may need, `YYYY-MM-DD`; asked when one is missing. */
  readonly days: () => Iterable<string> | Promise<Iterable<string>>
}

/**
 * Runs a write; where a row has no partition to go to, makes the partitions and runs the write again. They have
 * a transaction of their own, so that other writers do not wait.
 */
export async function makingPartitions<T>(
  { sql }: Pick<Store, 'sql'>,
  { maker, makingLock, days }: MissingPartitions,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (problem) {
    if (!isPartitionMissing(problem)) throw problem
    const wanted = [...new Set(await days())].join(',')
    await sql.begin(async (tx) => {
      // A partition that another transaction has just made may be visible before this connection is told to
      // drop its cached plan without it. That message comes before the maker releases this lock.
      await tx`SELECT pg_advisory_xact_lock(${makingLock})`
      await tx`SELECT ${tx(maker)}(day::date) FROM unnest(string_to_array(${wanted}, ',')) AS day`
    })
    return write()
  }
}

/**
 * True when a row had no partition to go to. A failed check has a constraint's name, and a missing partition
 * has none; the message of the server depends on its language.
 */
function isPartitionMissing(problem: unknown): boolean {
  return (
    problem instanceof postgres.PostgresError &&
    problem.code === CHECK_VIOLATION &&
    problem.constraint_name === undefined
  )
}
