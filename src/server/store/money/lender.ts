import { CLOSE_MS_MAX } from '../../../schemas/money/money-limits.ts'
import type { Closing, JournalOwner, KeptCount, Lender, Pulse } from '../../ports/money/lending.ts'
import type { Day } from '../../ports/money/money.ts'
import type { Log } from '../../ports/observe.ts'
import { close } from './lending/close.ts'
import { flush } from './lending/flush.ts'
import { lend } from './lending/lend.ts'
import { withPartitions } from './lending/partitions.ts'
import type { Sql, Store, Transaction } from '../base/open.ts'
import { checkCount, raiseCount } from './money-counts.ts'

/** Milliseconds that a front waits for the authority to lend money or to report the day. Decision. */
export const LEND_MS_MAX = 2_000
/** Milliseconds that a front waits for the authority to book a batch of entries. Decision. */
export const FLUSH_MS_MAX = 3_000
/**
 * Milliseconds for which the authority informs the holders of an account's money that a front was refused; the
 * refused front retries sooner. Decision.
 */
export const WANTED_MS = 1_000

/** Milliseconds between two increments of a node's money counter by flushes. Decision. */
const COUNT_MS = 60_000

export interface LenderOptions {
  readonly log: Log
  /** The money counter of this node; left out when the journals of another node are ended. */
  readonly count?: KeptCount
  readonly now?: () => number
}

/**
 * The money authority. Each of its transactions locks its journal first, then the accounts in the order of
 * their ids, and finally the row of the node's money counter. Design §6.
 */
export function openLender(
  store: Store,
  { log, count, now = () => performance.now() }: LenderOptions,
): Lender {
  let raisedAt = -Infinity
  return {
    async open(owner) {
      if (count !== undefined) await store.within(LEND_MS_MAX, (sql) => checkCount(sql, count))
      return store.within(LEND_MS_MAX, (sql) => enter(sql, owner))
    },
    lend: (ask) => store.within(LEND_MS_MAX, (sql) => sql.begin((tx) => lend(tx, ask))),
    pulse: (accountIds) => store.within(LEND_MS_MAX, (sql) => pulse(sql, accountIds)),
    async flush(batch) {
      const isDue = now() - raisedAt >= COUNT_MS && batch.entries.length > 0
      const raised = await withPartitions(
        store,
        () => batch.entries.map(({ day }) => day),
        () =>
          store.within(FLUSH_MS_MAX, (sql) =>
            sql.begin((tx) => counted(tx, flush(tx, batch, log), isDue ? count : undefined)),
          ),
      )
      if (isDue) raisedAt = now()
      return keep(raised, count)
    },
    async close(closing) {
      const raised = await withPartitions(
        store,
        () => daysOf(store, closing),
        () =>
          store.within(CLOSE_MS_MAX, (sql) => sql.begin((tx) => counted(tx, close(tx, closing, log), count))),
      )
      return keep(raised, count)
    },
  }
}

interface Counted<T> {
  readonly result: T
  /** Null: the money counter was not incremented. */
  readonly n: number | null
}

/** Increments the node's money counter after the last step of a transaction. */
async function counted<T>(
  tx: Transaction,
  work: Promise<T>,
  count: KeptCount | undefined,
): Promise<Counted<T>> {
  const result = await work
  return { result, n: count === undefined ? null : await raiseCount(tx, count.node) }
}

/** Writes a committed number to the data directory. */
async function keep<T>({ result, n }: Counted<T>, count: KeptCount | undefined): Promise<T> {
  if (n !== null) await count?.keep(n)
  return result
}

/** Days in whose months closing a journal may write rows: the days of its entries, its open takes and its leases. */
async function daysOf(store: Store, { journalId, rest, open }: Closing): Promise<readonly Day[]> {
  const leases = await store.sql<
    { day: Day }[]
  >`SELECT DISTINCT day::text FROM leases WHERE journal_id = ${journalId}`
  return [...leases, ...(rest?.entries ?? []), ...open].map(({ day }) => day)
}

/**
 * Registers a journal. Without a row in `refills` nothing is lent: the row is removed when the journal ends,
 * and a late call must not create it again.
 */
async function enter(sql: Sql, { id, node, bootId }: JournalOwner): Promise<Day> {
  const [row] = await sql<{ today: Day }[]>`
    WITH made AS (INSERT INTO journals (id, node, boot_id) VALUES (${id}, ${node}, ${bootId}) ON CONFLICT (id) DO NOTHING RETURNING id),
    refill AS (INSERT INTO refills (journal_id, sequence, reply) SELECT id, 0, '' FROM made)
    SELECT utc_today()::text AS today`
  if (row === undefined) throw new Error('the database returned no date')
  return row.today
}

async function pulse(sql: Sql, accountIds: readonly string[]): Promise<Pulse> {
  // The absolute value, since a clock that was set back would leave `wanted_at` in the future.
  const [row] = await sql<{ day: Day; wanted: string | null }[]>`
    SELECT greatest(utc_today(), max(day))::text AS day, string_agg(id, ',') FILTER (
      WHERE abs(extract(epoch FROM clock_timestamp() - wanted_at)) * 1000 < ${WANTED_MS}::int) AS wanted
    FROM accounts WHERE id = ANY(string_to_array(${accountIds.join(',')}, ','))`
  if (row === undefined) throw new Error('the database returned no date')
  return { day: row.day, wanted: row.wanted?.split(',') ?? [] }
}
