import { FRONT_LIVE_MS } from '../../schemas/limits.ts'
import { SPANS } from '../ports/money.ts'
import type { Store, Transaction } from '../store/open.ts'
import { capped, CONTRIBUTIONS, factsOf, inWindow, MONTHS } from './sums.ts'

/** Milliseconds that the drop of a month waits for whoever reads the ledger, while all who write it wait behind it. Decision. */
const DROP_WAIT_MS = 500
/** Accounts that one transaction turns to the present day. */
const TURNED_AT_ONCE = 1_000

export interface PrunedMonths {
  readonly months: number
  readonly rows: number
  /** Months that are due, and stay while journals of dead nodes, money lent in them, or jobs that began in them, may still change them. */
  readonly held: number
}

interface Month {
  readonly partition: string
  readonly first: string
  readonly isHeld: boolean
}

/**
 * Drops whole months of the ledger that are older than the current one and so many before it. What they amount to for each
 * account is added to `ledger_pruned` in the same transaction, so that `checkLedger` goes on being exact; roll-ups stay.
 * Months of current windows stay, whatever is asked. Several at once do no harm.
 * @param keptMonths 0 = for ever
 * Throws what Postgres says: a reader that holds the ledger too long leaves the month to the next turn.
 */
export async function pruneLedger(store: Store, keptMonths: number): Promise<PrunedMonths> {
  let months = 0
  let rows = 0
  let held = 0
  if (keptMonths < 1) return { months, rows, held }
  for (const month of await monthsDue(store, keptMonths)) {
    if (month.isHeld) {
      held++
      continue
    }
    await turnAccounts(store, month)
    const dropped = await drop(store, month)
    if (dropped === null) held++
    else {
      months++
      rows += dropped
    }
  }
  return { months, rows, held }
}

/**
 * Oldest first. An entry of the books may still come from a journal that was open in the month and whose front is dead, and
 * from a job that is open since then, held or without a limit: its cost counts in the window of its acceptance.
 */
async function monthsDue({ sql }: Store, keptMonths: number): Promise<readonly Month[]> {
  return sql<Month[]>`
    SELECT partition, first::text AS first,
      EXISTS (SELECT FROM leases WHERE day < next)
      OR EXISTS (SELECT FROM video_jobs WHERE hold_day < next AND state IN ('accepted', 'submitting', 'running', 'storing'))
      OR EXISTS (
        SELECT FROM journals j WHERE state = 'open' AND opened_at < next AND NOT EXISTS (
          SELECT FROM fronts f WHERE f.id = j.id AND f.heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms')) AS "isHeld"
    FROM (${sql.unsafe(MONTHS)}) AS partitions
    WHERE first < date_trunc('month', utc_today()) - ${keptMonths} * interval '1 month'
    ORDER BY first`
}

/**
 * An account that nobody has used since still shows the windows of that month: it is turned to the present ones, as its
 * next use would.
 */
async function turnAccounts(store: Store, { first }: Month): Promise<void> {
  const sets = SPANS.filter((span) => span !== 'lifetime').flatMap((span) => ['spent', 'byok', 'lent'].map((what) =>
    `${span}_${what}_nano = CASE WHEN ${inWindow(span)} THEN a.${span}_${what}_nano ELSE 0 END`))
  for (;;) {
    const { count } = await store.sql.begin((tx) => tx.unsafe(`
      WITH due AS (
        SELECT id FROM accounts WHERE day < $1::date + interval '1 month 6 days' AND day < utc_today() ORDER BY id LIMIT ${TURNED_AT_ONCE} FOR UPDATE)
      UPDATE accounts a SET ${sets.join(', ')}, day = c.day FROM due, (SELECT utc_today() AS day) AS c WHERE a.id = due.id`, [first]))
    if (count < TURNED_AT_ONCE) return
  }
}

/** @returns rows; null when an account is of a window that reaches into the month, or another process dropped it */
function drop(store: Store, { partition, first }: Month): Promise<number | null> {
  return store.sql.begin(async (tx) => {
    // Nobody writes to a month that has long ended; if somebody does, it is before this or into a partition that is new.
    await tx.unsafe(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
    if (!await isThere(tx, partition)) return null
    await tx.unsafe(`LOCK TABLE ${partition} IN SHARE ROW EXCLUSIVE MODE`)
    const [late] = await tx`SELECT FROM accounts WHERE day < ${first}::date + interval '1 month 6 days' LIMIT 1`
    if (late !== undefined) return null
    await tx.unsafe(`
      WITH facts AS MATERIALIZED (${factsOf(partition)})
      INSERT INTO ledger_pruned AS p (account_id, spent_nano, byok_nano)
      SELECT account_id, ${capped('sum(spent)')}, ${capped('sum(byok)')} FROM (${CONTRIBUTIONS}) AS c
      GROUP BY account_id HAVING sum(spent) <> 0 OR sum(byok) <> 0
      ON CONFLICT (account_id) DO UPDATE SET
        spent_nano = ${capped('p.spent_nano + excluded.spent_nano')}, byok_nano = ${capped('p.byok_nano + excluded.byok_nano')}`)
    const [counted] = await tx.unsafe<{ rows: number }[]>(`SELECT count(*)::int AS rows FROM ${partition}`)
    // Last, since it waits for every reader of the ledger and lets none of its writers pass meanwhile.
    await tx.unsafe(`DROP TABLE ${partition}`)
    return counted?.rows ?? 0
  })
}

async function isThere(tx: Transaction, partition: string): Promise<boolean> {
  // A name of our own making, and nothing else, becomes text of a statement.
  if (!/^ledger_\d{4}_\d{2}$/.test(partition)) return false
  const [row] = await tx<{ isThere: boolean }[]>`SELECT to_regclass(${partition}) IS NOT NULL AS "isThere"`
  return row?.isThere === true
}
