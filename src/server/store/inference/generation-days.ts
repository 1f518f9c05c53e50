import type { KeptFor, PruneEnd, PruneStep, RetentionLease } from '../../ports/operator/retention.ts'
import type { Queryable, Store } from '../base/open.ts'
import { renewLease } from '../base/retention-lease.ts'

/** Days with partitions made in advance, beside the current one. */
const DAYS_AHEAD = 2
/** Milliseconds that the drop of a day waits for readers and writers of the table. Decision. */
const DAY_DROP_WAIT_MS = 500
/** Only a name that Sluice has made may become part of a statement. */
const NAME = /^generations_\d{4}_\d{2}_\d{2}$/
/** The advisory lock that the schema's `generations_partition` takes. */
const MAKING_LOCK = 7_305_848_213

/** Makes the partitions of today and the next days, where they are missing. @returns number of new ones */
export async function ensureGenerationDays({ sql }: Store): Promise<{ readonly partitions: number }> {
  const before = (await daysOf(sql)).length
  await sql`SELECT generations_partition(utc_today() + n) FROM generate_series(0, ${DAYS_AHEAD}::int) AS n`
  return { partitions: (await daysOf(sql)).length - before }
}

/**
 * Makes the partitions of these instants, Unix milliseconds, so that a write on any connection finds them.
 */
export async function makeGenerationDays({ sql }: Store, instants: readonly number[]): Promise<void> {
  const days = new Set(instants.map((ms) => new Date(ms).toISOString().slice(0, 10)))
  await sql.begin(async (tx) => {
    // The end of the maker's transaction comes behind the message that has other connections drop their
    // plans.
    await tx`SELECT pg_advisory_xact_lock(${MAKING_LOCK})`
    await tx`SELECT generations_partition(day::date) FROM unnest(string_to_array(${[...days].join(',')}, ',')) AS day`
  })
}

/**
 * Drops whole days of the records of calls: a day goes when its last record is old enough. D33.
 * @param keptDays 0 = without end
 */
export function generationDays(store: Store, keptDays: number): PruneStep {
  const keptFor: KeptFor = keptDays < 1 ? null : { count: keptDays, unit: 'days' }
  return {
    kind: 'generations',
    keptFor,
    async *run(lease): AsyncGenerator<number, PruneEnd, void> {
      for (const partition of await dueOf(store.sql, keptDays)) {
        const rows = await drop(store, partition, lease)
        if (rows === null) return 'lost'
        yield rows
      }
      return 'done'
    },
    async due() {
      let rows = 0
      for (const partition of await dueOf(store.sql, keptDays)) rows += await rowsOf(store, partition)
      return rows
    },
    async oldest() {
      for (const { partition, day } of await daysOf(store.sql)) {
        const [row] = await store.sql`SELECT FROM ${store.sql(partition)} LIMIT 1`
        if (row !== undefined) return new Date(`${day}T00:00:00Z`)
      }
      return null
    },
  }
}

interface GenerationDay {
  readonly partition: string
  /** `YYYY-MM-DD` */
  readonly day: string
}

/** The days that have a partition, oldest first. */
async function daysOf(sql: Queryable): Promise<readonly GenerationDay[]> {
  const rows = await sql<GenerationDay[]>`
    SELECT c.relname::text AS partition, to_date(right(c.relname, 10), 'YYYY_MM_DD')::text AS day
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'generations'::regclass ORDER BY day`
  return rows.filter(({ partition }) => NAME.test(partition))
}

async function dueOf(sql: Queryable, keptDays: number): Promise<readonly string[]> {
  if (keptDays < 1) return []
  const [row] = await sql<{ first: string }[]>`SELECT (utc_today() - ${keptDays}::int)::text AS first`
  const first = row?.first ?? ''
  return (await daysOf(sql)).filter(({ day }) => day < first).map(({ partition }) => partition)
}

/** @returns number of rows; null when another process has the lease */
function drop({ sql }: Store, partition: string, lease: RetentionLease): Promise<number | null> {
  return sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${DAY_DROP_WAIT_MS}`)
    if (!(await renewLease(tx, lease))) return null
    const rows = await count(tx, partition)
    // The last statement, since it waits for every reader of the table and blocks its writers meanwhile.
    await tx`DROP TABLE IF EXISTS ${tx(partition)}`
    return rows
  })
}

function rowsOf({ sql }: Store, partition: string): Promise<number> {
  return sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    return count(tx, partition)
  })
}

async function count(sql: Queryable, partition: string): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`SELECT count(*)::float8 AS rows FROM ${sql(partition)}`
  return row?.rows ?? 0
}
