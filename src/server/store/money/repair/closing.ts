import { LEDGER_BLOCKS_AT_ONCE } from '../../../../schemas/operator/retention-limits.ts'
import { appendAudit } from '../../base/append-audit.ts'
import type { Store, Transaction } from '../../base/open.ts'
import { capped, CONTRIBUTIONS, factsOf } from './sums.ts'

/**
 * Milliseconds that the drop of a month waits for readers of the ledger, while all writers wait behind it.
 * Decision.
 */
const DROP_WAIT_MS = 500

/** A month of the ledger. Sluice makes the name of its partition, which becomes part of statements. */
export interface Month {
  readonly partition: string
  /** The first day of the month, `YYYY-MM-DD`. */
  readonly first: string
}

/** To be called first in each transaction; false: stop. */
export type Hold = (tx: Transaction) => Promise<boolean>

export interface Closing {
  readonly store: Store
  readonly month: Month
  readonly hold: Hold
}

/**
 * Begins to sum a month up, or continues an earlier run. From here on a trigger of the partition records
 * writes to it: the sums, made piece by piece, are those of one moment, or they are begun anew.
 * @returns false when the month is gone, or the lease
 */
export function beginClosing({ store, month: { partition }, hold }: Closing): Promise<boolean> {
  return store.sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
    if (!(await hold(tx)) || !(await isThere(tx, partition))) return false
    // Waits for transactions that write to the month, so that the sums below include their rows.
    await tx.unsafe(`
      CREATE OR REPLACE TRIGGER ledger_closing_touched AFTER INSERT OR UPDATE OR DELETE ON ${partition}
        FOR EACH ROW EXECUTE FUNCTION ledger_closing_touched()`)
    // A month that was dropped in another way, and made again by a late entry, is a different month.
    await tx`DELETE FROM ledger_closing WHERE partition = ${partition} AND relation <> to_regclass(${partition})::oid`
    await tx`
      INSERT INTO ledger_closing (partition, relation) VALUES (${partition}, to_regclass(${partition})::oid) ON CONFLICT (partition) DO NOTHING`
    return true
  })
}

/** `more`: there are blocks left. `gone`: the month or the lease is gone. */
export type Summed = 'more' | 'all' | 'gone'

/**
 * Sums up the next blocks of a month. Each piece commits with its progress: a crash loses no piece, and no
 * piece counts twice.
 */
export function sumSome({ store, month: { partition }, hold }: Closing): Promise<Summed> {
  return store.sql.begin(async (tx) => {
    await tx.unsafe('SET LOCAL synchronous_commit = off; SET LOCAL max_parallel_workers_per_gather = 0')
    if (!(await hold(tx)) || !(await isThere(tx, partition))) return 'gone'
    const state = await stateOf(tx, partition)
    if (state === null) return 'gone'
    if (state.isStale) {
      // A transaction that found the month marked as stale has not marked it again: this statement waits
      // until it ends.
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
 * Drops a month that was summed up, carries its sums over for each account, and writes an event for each
 * organization that had rows in it.
 * @returns number of rows; null when the month was written to since, an account is still in a window that
 * reaches into the month, or the month or the lease is gone
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
  // Only a name that Sluice has made may become part of a statement.
  if (!/^ledger_\d{4}_\d{2}$/.test(partition)) return false
  const [row] = await tx<{ isThere: boolean }[]>`SELECT to_regclass(${partition}) IS NOT NULL AS "isThere"`
  return row?.isThere === true
}
