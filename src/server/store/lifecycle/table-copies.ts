import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Queryable, Transaction } from '../base/open.ts'

/** A table as a backup stores it. */
export interface CopiedTable {
  readonly name: string
  /** Columns in the order of the table's copy. */
  readonly columns: readonly string[]
}

export interface CopiedSequence {
  readonly name: string
  /** Decimal. */
  readonly value: string
  readonly isCalled: boolean
}

/**
 * Tables without data to keep: the schema's own, status reports of processes, and work in progress that is
 * started again. Records of calls (`generation_records`, `requests`) only serve to review the last days; their
 * costs are in the ledger.
 */
const LEFT_OUT = [
  'schema_migrations',
  'fronts',
  'runners',
  'sweep_reports',
  'retention',
  'ledger_closing',
  'ledger_closing_sums',
  'generations',
  'generation_records',
  'history_hours',
  'requests',
  'request_segments',
  'request_payments',
  'request_marks',
]
const NAME = /^[a-z_][a-z0-9_]*$/

/** Every table of Sluice that holds data, by name; partitions are part of their parents. */
export async function tablesOf(sql: Queryable): Promise<readonly CopiedTable[]> {
  const rows = await sql<{ name: string; columns: string }[]>`
    SELECT c.relname::text AS name, string_agg(a.attname, ' ' ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    GROUP BY c.relname ORDER BY c.relname`
  return rows
    .filter(({ name }) => !LEFT_OUT.includes(name))
    .map(({ name, columns }) => ({ name, columns: columns.split(' ') }))
}

export async function sequencesOf(sql: Queryable): Promise<readonly CopiedSequence[]> {
  const rows = await sql<{ name: string; value: string | null; start: string }[]>`
    SELECT sequencename::text AS name, last_value::text AS value, start_value::text AS start
    FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename`
  return rows.map(({ name, value, start }) => ({ name, value: value ?? start, isCalled: value !== null }))
}

/** First days of the months for which the ledger has a partition. */
export async function monthsOfLedger(sql: Queryable): Promise<readonly string[]> {
  const rows = await sql<{ month: string }[]>`
    SELECT to_date(right(c.relname, 7), 'YYYY_MM')::text AS month
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'ledger'::regclass ORDER BY month`
  return rows.map(({ month }) => month)
}

/**
 * All rows of a table in the text form of COPY, which every version of Postgres reads. A reader that stops
 * early waits until the rest has been received.
 */
export async function* readTable(
  tx: Transaction,
  { name, columns }: CopiedTable,
): AsyncGenerator<Uint8Array, void> {
  // A partitioned table cannot be copied by its name.
  const stream = await tx
    .unsafe(`COPY (SELECT ${columnsOf(columns)} FROM ${safe(name)}) TO STDOUT`)
    .readable()
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false })) yield piece as Uint8Array
  } finally {
    // Postgres accepts no statement while a copy runs, not even ROLLBACK. The reader that stopped early throws
    // the reason.
    if (!stream.readableEnded) await finished(stream.resume()).catch(() => undefined)
    // The library pauses its socket while the reader is too slow, and resumes it at the next read. No read
    // follows after the last piece, so the next statement on the connection would wait forever.
    stream._read(0)
  }
}

/** Writes the bytes of `readTable`. Errors of Postgres are reported by the next statement. */
export function writeTable(tx: Transaction, { name, columns }: CopiedTable): Promise<Writable> {
  return tx.unsafe(`COPY ${safe(name)} (${columnsOf(columns)}) FROM STDIN`).writable()
}

/** Tables in an order in which referenced rows are restored before the rows that refer to them. */
export async function inOrderOfReference(
  sql: Queryable,
  tables: readonly CopiedTable[],
): Promise<readonly CopiedTable[]> {
  const references = await sql<{ from: string; to: string }[]>`
    SELECT f.relname::text AS from, t.relname::text AS to
    FROM pg_constraint k JOIN pg_class f ON f.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
    WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace AND f.oid <> t.oid`
  const left = new Map(tables.map((table) => [table.name, table]))
  const ordered: CopiedTable[] = []
  while (left.size > 0) {
    const free = [...left.values()].filter(
      ({ name }) => !references.some(({ from, to }) => from === name && left.has(to)),
    )
    if (free.length === 0)
      throw new Error(`tables refer to each other in a circle: ${[...left.keys()].join(', ')}`)
    for (const table of free) left.delete(table.name)
    ordered.push(...free)
  }
  return ordered
}

/** Removes the rows that the migrations inserted, and creates the partitions of the ledger's months. */
export async function makeReady(
  tx: Transaction,
  tables: readonly CopiedTable[],
  months: readonly string[],
): Promise<void> {
  await tx.unsafe(`TRUNCATE ${tables.map(({ name }) => safe(name)).join(', ')}`)
  for (const month of months) await tx`SELECT ledger_partition(${month}::date)`
}

export async function setSequences(tx: Transaction, sequences: readonly CopiedSequence[]): Promise<void> {
  for (const { name, value, isCalled } of sequences)
    await tx`SELECT setval(${safe(name)}::regclass, ${value}::bigint, ${isCalled})`
}

export async function isEmptyDatabase(sql: Queryable): Promise<boolean> {
  const [row] =
    await sql`SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') LIMIT 1`
  return row === undefined
}

function columnsOf(columns: readonly string[]): string {
  return columns.map((column) => `"${safe(column)}"`).join(', ')
}

/** Names become part of statements, and the source of a manifest is not trusted. */
function safe(name: string): string {
  if (!NAME.test(name)) throw new TypeError(`not a valid name for a table or column: ${JSON.stringify(name)}`)
  return name
}
