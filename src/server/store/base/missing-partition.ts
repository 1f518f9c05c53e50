import postgres from 'postgres'
import type { Queryable, Store } from './open.ts'

/** SQLSTATE of a violated check, also for a row without a partition. */
const CHECK_VIOLATION = '23514'

/** Writes of rows that found no partition. Decision: the first makes it, and a second meets a stale connection. */
const PARTITION_TRIES_MAX = 4

/** A table in partitions, which the schema's function `<table>_partition` makes. */
export interface PartitionedTable {
  readonly table: 'generations' | 'generation_records' | 'ledger' | 'requests' | 'request_segments'
  /** The column that says which partition a row goes to. */
  readonly keyColumn: string
}

/**
 * Runs a write; where a row has no partition to go to, makes the partitions and runs the write again. They have
 * a transaction of their own, so that other writers do not wait.
 * @param days days whose partitions the write may need, `YYYY-MM-DD`; asked when one is missing
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

/** The schema's function that makes the partition of a day where it is missing. */
export function makerOf({ table }: PartitionedTable): string {
  return `${table}_partition`
}

/**
 * Notifies every connection again of a table's partitions. Postgres does so when one is attached, but a
 * connection that reads the partitions for the first time at that instant keeps what it has read: it would go
 * on without the new one, and so would its reads, until the next is attached. The statement sets the value
 * that is set already, and waits for no reader and no writer.
 */
export async function tellOfPartitions(
  sql: Queryable,
  { table, keyColumn }: PartitionedTable,
): Promise<void> {
  await sql`ALTER TABLE ONLY ${sql(table)} ALTER COLUMN ${sql(keyColumn)} SET STATISTICS -1`
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
