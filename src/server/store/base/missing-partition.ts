import postgres from 'postgres'
import type { Queryable, Store } from './open.ts'

/** SQLSTATE of a violated check; also used for a row without a partition. */
const CHECK_VIOLATION = '23514'

/**
 * Attempts to write rows that have no partition. Decision: after the first attempt the partition is created,
 * and a second may use a connection that does not know it yet.
 */
const PARTITION_TRIES_MAX = 4

/** A partitioned table; the schema's function `<table>_partition` creates the partitions. */
export interface PartitionedTable {
  readonly table: 'generations' | 'generation_records' | 'ledger' | 'requests' | 'request_segments'
  /** The column that determines the partition of a row. */
  readonly keyColumn: string
}

/**
 * Runs a write; if a row has no partition, creates the partitions and runs the write again. They are created
 * in a separate transaction, so that other writers do not wait.
 * @param days returns the days whose partitions the write may need, `YYYY-MM-DD`; called only when one is
 * missing
 */
export async function makingPartitions<T>(
  { sql }: Pick<Store, 'sql'>,
  table: PartitionedTable,
  days: () => Iterable<string> | Promise<Iterable<string>>,
  write: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (problem) {
      if (!isPartitionMissing(problem) || tries === PARTITION_TRIES_MAX) throw problem
    }
    const wanted = [...new Set(await days())].join(',')
    await sql`SELECT ${sql(makerOf(table))}(day::date) FROM unnest(string_to_array(${wanted}, ',')) AS day`
    await tellOfPartitions(sql, table)
  }
}

/** Name of the schema's function that creates the partition of a day if it is missing. */
export function makerOf({ table }: PartitionedTable): string {
  return `${table}_partition`
}

/**
 * Notifies every connection again of a table's partitions. Postgres does so when one is attached, but a
 * connection that reads the partitions for the first time at that moment keeps the old list: its reads and
 * writes would not see the new partition until the next one is attached. The statement sets a value to what it
 * already is, and does not wait for readers or writers.
 */
export async function tellOfPartitions(
  sql: Queryable,
  { table, keyColumn }: PartitionedTable,
): Promise<void> {
  await sql`ALTER TABLE ONLY ${sql(table)} ALTER COLUMN ${sql(keyColumn)} SET STATISTICS -1`
}

/**
 * True when there was no partition for a row. The error of a failed check contains the name of a constraint,
 * that of a missing partition does not; the message cannot be used because it depends on the server's
 * language.
 */
function isPartitionMissing(problem: unknown): boolean {
  return (
    problem instanceof postgres.PostgresError &&
    problem.code === CHECK_VIOLATION &&
    problem.constraint_name === undefined
  )
}
