import { FRONT_LIVE_MS } from '../../../../schemas/limits/limits.ts'
import { SPANS } from '../../../ports/money/money.ts'
import type { Log } from '../../../ports/observe.ts'
import type { PruneEnd, PruneStep } from '../../../ports/operator/retention.ts'
import type { Store, Transaction } from '../../base/open.ts'
import { renewLease } from '../../base/retention-lease.ts'
import { appendAudit } from '../../base/append-audit.ts'
import { capped, CONTRIBUTIONS, factsOf, inWindow, MONTHS } from './sums.ts'

/** Blocks of a month of the ledger that one transaction sums: 2 MiB. Decision. */
export const LEDGER_BLOCKS_AT_ONCE = 256
/** Accounts that one transaction moves to the current day. Decision. */
export const ACCOUNTS_TURNED_AT_ONCE = 1_000

/**
 * Times that the sums of a month are restarted in one run, when another transaction writes to it meanwhile.
 * Decision.
 */
const CLOSED_ANEW_MAX = 3

export interface PrunedMonths {
  readonly months: number
  readonly rows: number
  /** Due months that are kept because journals of dead nodes, money lent in these months, or jobs that began in them may still change them. */
  readonly held: number
}

const NONE: PrunedMonths = { months: 0, rows: 0, held: 0 }

interface DueMonth extends Month {
  readonly isHeld: boolean
}

/**
 * Drops whole months of the ledger that are older than the current one and `keptMonths` before it. The sums of
 * each account are added to `ledger_pruned` in the transaction that drops the month, so that `checkLedger`
 * stays exact; activity is kept. Months of current windows are always kept. Concurrent runs do no harm.
 * @param keptMonths 0 = kept forever. Throws the errors of Postgres: if a reader locks the ledger for too
 * long, the month is left to the next run.
 */
export async function pruneLedger(store: Store, keptMonths: number): Promise<PrunedMonths> {
  const done = { ...NONE }
  for await (const { months, rows, held } of pruneMonths(store, keptMonths, () => Promise.resolve(true))) {
    done.months += months
    done.rows += rows
    done.held += held
  }
  return done
}

/** Does the same as `pruneLedger` under the runner's lease, with pauses between the steps. */
export function ledgerMonths({
  store,
  keptMonths,
  log,
}: {
  readonly store: Store
  readonly keptMonths: number
  readonly log: Log
}): PruneStep {
  return {
    kind: 'ledger',
    keptFor: keptMonths < 1 ? null : { count: keptMonths, unit: 'months' },
    async *run(lease) {
      let held = 0
      const steps = pruneMonths(store, keptMonths, (tx) => renewLease(tx, lease))
      for (;;) {
        const step = await steps.next()
        if (step.done === true) {
          if (held > 0) log.info('retention.ledger_held', { months: held })
          return step.value
        }
        held += step.value.held
        yield step.value.rows
      }
    },
    async due() {
      let rows = 0
      for (const { partition, isHeld } of keptMonths < 1 ? [] : await monthsDue(store, keptMonths))
        if (!isHeld) rows += await rowsOf(store, partition)
      return rows
    },
    async oldest() {
      const [row] = await store.sql.unsafe<{ at: Date | null }[]>(
        `SELECT min(first)::timestamp AT TIME ZONE 'UTC' AS at FROM (${MONTHS}) AS m`,
      )
      return row?.at ?? null
    },
  }
}

/** Each step is a short transaction, and yields its counts. */
async function* pruneMonths(
  store: Store,
  keptMonths: number,
  hold: Hold,
): AsyncGenerator<PrunedMonths, PruneEnd, void> {
  if (keptMonths < 1) return 'done'
  let isLost = false
  const holding: Hold = async (tx) => {
    isLost ||= !(await hold(tx))
    return !isLost
  }
  for (const month of await monthsDue(store, keptMonths)) {
    if (month.isHeld) yield { ...NONE, held: 1 }
    else yield* pruneMonth({ store, month, hold: holding })
    if (isLost) return 'lost'
  }
  return 'done'
}

async function* pruneMonth(closing: Closing): AsyncGenerator<PrunedMonths, void, void> {
  for (let after: string | null = ''; after !== null; yield NONE)
    after = await turnAccounts(closing.store, closing.month, after)
  if (!(await beginClosing(closing))) return
  for (let anew = 0; anew < CLOSED_ANEW_MAX; anew++) {
    let summed = await sumSome(closing)
    for (; summed === 'more'; summed = await sumSome(closing)) yield NONE
    if (summed === 'gone') return
    yield NONE
    const rows = await drop(closing)
    if (rows !== null) {
      yield { months: 1, rows, held: 0 }
      return
    }
  }
  yield { ...NONE, held: 1 }
}

/**
 * Due months, oldest first. A ledger row may still come from a journal that was open in the month and whose
 * front is dead, and from a job that has been open since then, with or without a hold: its cost counts in the
 * window in which it was accepted.
 */
async function monthsDue({ sql }: Store, keptMonths: number): Promise<readonly DueMonth[]> {
  return sql<DueMonth[]>`
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
 * Moves accounts that were not used since the month to the current windows, as their next use would.
 * @param after id of the last account of the previous batch @returns id of the last account of this batch;
 * null when there are no more
 */
async function turnAccounts(store: Store, { first }: Month, after: string): Promise<string | null> {
  const sets = SPANS.filter((span) => span !== 'lifetime').flatMap((span) =>
    ['spent', 'byok', 'lent'].map(
      (what) => `${span}_${what}_nano = CASE WHEN ${inWindow(span)} THEN a.${span}_${what}_nano ELSE 0 END`,
    ),
  )
  const turned = await store.sql.begin((tx) =>
    tx.unsafe<{ id: string }[]>(
      `
    WITH due AS (
      SELECT id FROM accounts WHERE id > $2 AND day < $1::date + interval '1 month 6 days' AND day < utc_today()
      ORDER BY id LIMIT ${ACCOUNTS_TURNED_AT_ONCE} FOR UPDATE)
    UPDATE accounts a SET ${sets.join(', ')}, day = c.day FROM due, (SELECT utc_today() AS day) AS c WHERE a.id = due.id RETURNING a.id`,
      [first, after],
    ),
  )
  return turned.length < ACCOUNTS_TURNED_AT_ONCE
    ? null
    : turned.map(({ id }) => id).reduce((last, id) => (id > last ? id : last), '')
}

function rowsOf(store: Store, partition: string): Promise<number> {
  return store.sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    const [row] = await tx<{ rows: number }[]>`SELECT count(*)::float8 AS rows FROM ${tx(partition)}`
    return row?.rows ?? 0
  })
}

/** Milliseconds that dropping a month waits for readers of the ledger, while all writers wait for the drop. Decision. */
const DROP_WAIT_MS = 500

/** A month of the ledger. The name of its partition, which becomes part of statements, is created by Sluice. */
interface Month {
  readonly partition: string
  /** The first day of the month, `YYYY-MM-DD`. */
  readonly first: string
}

/** To be called first in each transaction; false: the run must stop. */
type Hold = (tx: Transaction) => Promise<boolean>

export interface Closing {
  readonly store: Store
  readonly month: Month
  readonly hold: Hold
}

/**
 * Begins to sum a month, or continues an earlier run. From then on a trigger of the partition records writes
 * to it, so that the sums, computed in steps, represent a single moment, or are restarted.
 * @returns false when the month no longer exists or the lease was lost
 */
export function beginClosing({ store, month: { partition }, hold }: Closing): Promise<boolean> {
  return store.sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
    if (!(await hold(tx)) || !(await isThere(tx, partition))) return false
    // Waits for transactions that write to the month, so that the sums below include their rows.
    await tx.unsafe(`
      CREATE OR REPLACE TRIGGER ledger_closing_touched AFTER INSERT OR UPDATE OR DELETE ON ${partition}
        FOR EACH ROW EXECUTE FUNCTION ledger_closing_touched()`)
    // A month that was dropped otherwise and created again by a late entry counts as a different month.
    await tx`DELETE FROM ledger_closing WHERE partition = ${partition} AND relation <> to_regclass(${partition})::oid`
    await tx`
      INSERT INTO ledger_closing (partition, relation) VALUES (${partition}, to_regclass(${partition})::oid) ON CONFLICT (partition) DO NOTHING`
    return true
  })
}

/** `more`: blocks remain. `gone`: the month no longer exists or the lease was lost. */
type Summed = 'more' | 'all' | 'gone'

/**
 * Sums the next blocks of a month. Each step is committed with its progress, so after a crash no step is
 * missing or counted twice.
 */
export function sumSome({ store, month: { partition }, hold }: Closing): Promise<Summed> {
  return store.sql.begin(async (tx) => {
    await tx.unsafe('SET LOCAL synchronous_commit = off; SET LOCAL max_parallel_workers_per_gather = 0')
    if (!(await hold(tx)) || !(await isThere(tx, partition))) return 'gone'
    const state = await stateOf(tx, partition)
    if (state === null) return 'gone'
    if (state.isStale) {
      // A transaction that found the month already marked as stale did not mark it again, so this statement
      // waits until that transaction ends.
      await tx.unsafe(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}; LOCK TABLE ${partition} IN SHARE MODE`)
      await tx`DELETE FROM ledger_closing_sums WHERE partition = ${partition}`
      await tx`UPDATE ledger_closing SET next_block = 0, is_stale = false WHERE partition = ${partition}`
      return 'more'
    }
    if (state.nextBlock >= state.blocks) return 'all'
    const end = state.nextBlock + LEDGER_BLOCKS_AT_ONCE
    await tx.unsafe(sumStatement(partition, state.nextBlock, end), [partition])
    await tx`UPDATE ledger_closing SET next_block = ${end} WHERE partition = ${partition}`
    return end >= state.blocks ? 'all' : 'more'
  })
}

/** Adds the amounts of blocks by account, and the rows by organization, to the month's sums. */
function sumStatement(partition: string, from: number, to: number): string {
  const rows = `(SELECT * FROM ${partition} WHERE ctid >= '(${from},0)'::tid AND ctid < '(${to},0)'::tid) AS part`
  return `
    WITH facts AS MATERIALIZED (${factsOf(rows)})
    INSERT INTO ledger_closing_sums AS s (partition, account_id, spent_nano, byok_nano, rows)
    SELECT $1::text, account_id, ${capped('sum(spent)')}, ${capped('sum(byok)')}, sum(rows) FROM (
      SELECT account_id, spent, byok, 0 AS rows FROM (${CONTRIBUTIONS}) AS c
      UNION ALL SELECT 'o' || organization_id, 0, 0, rows FROM facts) AS all_of_them
    GROUP BY account_id
    ON CONFLICT (partition, account_id) DO UPDATE SET spent_nano = ${capped('s.spent_nano + excluded.spent_nano')},
      byok_nano = ${capped('s.byok_nano + excluded.byok_nano')}, rows = s.rows + excluded.rows`
}

interface ClosingState {
  readonly nextBlock: number
  readonly blocks: number
  readonly isStale: boolean
}

async function stateOf(tx: Transaction, partition: string): Promise<ClosingState | null> {
  const [row] = await tx<ClosingState[]>`
    SELECT next_block::float8 AS "nextBlock", is_stale AS "isStale",
      ceil(pg_relation_size(to_regclass(${partition})) / current_setting('block_size')::float8) AS blocks
    FROM ledger_closing WHERE partition = ${partition} FOR UPDATE`
  return row ?? null
}

/**
 * Drops a summed month, carries over the sums of each account, and writes an event for each organization that
 * had rows in it.
 * @returns number of rows; null when the month was written to meanwhile, an account is still in a window that
 * overlaps the month, the month no longer exists, or the lease was lost
 */
export function drop({ store, month: { partition, first }, hold }: Closing): Promise<number | null> {
  return store.sql.begin(async (tx) => {
    // No writer uses a month that ended long ago; a late one writes before this statement, or into a new
    // partition.
    await tx.unsafe(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
    if (!(await hold(tx)) || !(await isThere(tx, partition))) return null
    await tx.unsafe(`LOCK TABLE ${partition} IN SHARE ROW EXCLUSIVE MODE`)
    const state = await stateOf(tx, partition)
    if (state === null || state.isStale || state.nextBlock < state.blocks) return null
    const [late] =
      await tx`SELECT FROM accounts WHERE day < ${first}::date + interval '1 month 6 days' LIMIT 1`
    if (late !== undefined) return null
    await tx.unsafe(
      `
      INSERT INTO ledger_pruned AS p (account_id, spent_nano, byok_nano)
      SELECT account_id, spent_nano, byok_nano FROM ledger_closing_sums WHERE partition = $1 AND (spent_nano <> 0 OR byok_nano <> 0)
      ON CONFLICT (account_id) DO UPDATE SET
        spent_nano = ${capped('p.spent_nano + excluded.spent_nano')}, byok_nano = ${capped('p.byok_nano + excluded.byok_nano')}`,
      [partition],
    )
    const rows = await auditDrop(tx, { partition, first })
    await tx`DELETE FROM ledger_closing WHERE partition = ${partition}`
    // The last statement, since it waits for every reader of the ledger and blocks its writers meanwhile.
    await tx.unsafe(`DROP TABLE ${partition}`)
    return rows
  })
}

interface Dropped {
  readonly organizationId: string
  readonly rows: string
  readonly spent_nano: string
  readonly byok_nano: string
}

/** Writes the audit events. @returns number of rows of all organizations */
async function auditDrop(tx: Transaction, { partition, first }: Month): Promise<number> {
  const dropped = await tx<Dropped[]>`
    SELECT o.id AS "organizationId", s.rows::text, s.spent_nano::text, s.byok_nano::text
    FROM ledger_closing_sums s JOIN organizations o ON 'o' || o.id = s.account_id WHERE s.partition = ${partition} AND s.rows > 0`
  await appendAudit(
    tx,
    ...dropped.map(({ organizationId, ...before }) => ({
      organizationId,
      workspaceId: null,
      actor: { kind: 'system' as const, id: null },
      requestId: null,
      operation: 'system.ledger-prune',
      outcome: 'changed' as const,
      objectKind: 'ledger_month',
      objectId: first.slice(0, 7),
      before,
      after: null,
    })),
  )
  const [all] = await tx<
    { rows: number }[]
  >`SELECT COALESCE(sum(rows), 0)::float8 AS rows FROM ledger_closing_sums WHERE partition = ${partition}`
  return all?.rows ?? 0
}

async function isThere(tx: Transaction, partition: string): Promise<boolean> {
  // Only a name in Sluice's own form may become part of a statement.
  if (!/^ledger_\d{4}_\d{2}$/.test(partition)) return false
  const [row] = await tx<{ isThere: boolean }[]>`SELECT to_regclass(${partition}) IS NOT NULL AS "isThere"`
  return row?.isThere === true
}
