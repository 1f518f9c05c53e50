import { ok, type Outcome } from '../../../../schemas/failures.ts'
import { SPANS } from '../../../ports/money/money.ts'
import type { ChangedBy } from '../../../ports/vault/vault.ts'
import { appendAudit } from '../../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../../base/open.ts'
import { reach } from '../../base/translate.ts'
import { CONTRIBUTIONS, factsOf, inWindow } from './sums.ts'

/** Conditions on forfeits; each given field narrows the selection. */
export interface ForfeitQuery {
  readonly journalId?: string
  readonly requestId?: string
  /** Days before this one, `YYYY-MM-DD`. */
  readonly before?: string
}

/** Money of a dead front for a call whose result is unknown; with an account, for calls that are unknown themselves. */
export interface Forfeit {
  readonly day: string
  readonly at: Date
  readonly requestId: string
  readonly organizationId: string
  readonly workspaceId: string | null
  readonly keyHash: string | null
  readonly accountId: string | null
  readonly journalId: string | null
  readonly model: string | null
  /** Whole nano-USD. */
  readonly costNano: bigint
  /** The part that became usage or was forgiven. */
  readonly releasedNano: bigint
}

export interface Forgiven {
  readonly forfeits: number
  /** Whole nano-USD, as forfeits count it: an amount that counts for several accounts is included once for each. */
  readonly amountNano: bigint
}

interface ForfeitRow {
  readonly day: string
  readonly at: Date
  readonly request_id: string
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly key_hash: string | null
  readonly account_id: string | null
  readonly journal_id: string | null
  readonly model: string | null
  readonly cost_nano: string
  readonly released_nano: string
}

/** Forfeits that still count, newest first. Failure: store_unavailable. */
export function listForfeits(
  { sql }: Store,
  query: ForfeitQuery,
  limit: number,
): Promise<Outcome<readonly Forfeit[]>> {
  return reach(async () => {
    const rows = await sql<ForfeitRow[]>`
      SELECT day::text AS day, at, request_id, organization_id, workspace_id, key_hash, account_id, journal_id, model, cost_nano, released_nano
      FROM ledger WHERE kind = 'forfeit' AND released_nano < cost_nano ${inputsOf(sql, query)}
      ORDER BY day DESC, at DESC, request_id LIMIT ${limit}`
    return ok(rows.map(forfeitOf))
  })
}

/**
 * Forgives forfeits: the amounts that they count in current windows become available again immediately. A
 * second call does nothing. Failure: store_unavailable.
 */
export function forgive(
  store: Store,
  query: ForfeitQuery & { readonly note: string },
  by: ChangedBy,
): Promise<Outcome<Forgiven>> {
  return reach(async () =>
    ok(
      await store.sql.begin(async (tx) => {
        await lockOwners(tx, query)
        // The table has the ledger's columns, so that CONTRIBUTIONS can determine for which accounts the forfeits counted.
        await tx`CREATE TEMP TABLE forgiven (LIKE ledger INCLUDING DEFAULTS) ON COMMIT DROP`
        await tx`
      WITH picked AS (
        SELECT l.tableoid AS of_table, l.ctid AS at_row, l.released_nano FROM ledger l JOIN owners o ON ${sameOwner(tx)}
        WHERE kind = 'forfeit' AND released_nano < cost_nano ${inputsOf(tx, query)}),
      released AS (
        UPDATE ledger l SET released_nano = l.cost_nano FROM picked p WHERE l.tableoid = p.of_table AND l.ctid = p.at_row
        RETURNING l.*, p.released_nano AS released_before)
      INSERT INTO forgiven (day, at, request_id, kind, organization_id, workspace_id, key_hash, account_id, model, cost_nano)
      SELECT day, at, request_id, kind, organization_id, workspace_id, key_hash, account_id, model, cost_nano - released_before FROM released`
        await takeBack(tx)
        return note(tx, query, by)
      }),
    ),
  )
}

/**
 * Forfeits are read and changed under the locks of the accounts for which they count, as in the lender. This
 * function locks all these accounts first, in order. A forfeit that is written after this read belongs to
 * another owner, or waits for these locks.
 */
async function lockOwners(tx: Transaction, query: ForfeitQuery): Promise<void> {
  await tx`
    CREATE TEMP TABLE owners ON COMMIT DROP AS
    SELECT DISTINCT organization_id, workspace_id, key_hash, account_id FROM ledger
    WHERE kind = 'forfeit' AND released_nano < cost_nano ${inputsOf(tx, query)}`
  // Accounts of organizations are also locked, although they do not change: transactions that write an
  // organization's activity lock its account.
  await tx`
    SELECT FROM accounts WHERE id IN (
      SELECT 'o' || organization_id FROM owners UNION SELECT 'w' || workspace_id FROM owners UNION SELECT account_id FROM owners
      UNION SELECT k.account_id FROM owners o JOIN api_keys k ON k.hash = o.key_hash)
    ORDER BY id FOR UPDATE`
}

function sameOwner(sql: Queryable) {
  return sql`(l.organization_id, l.workspace_id, l.key_hash, l.account_id) IS NOT DISTINCT FROM (o.organization_id, o.workspace_id, o.key_hash, o.account_id)`
}

/** Subtracts the forgiven amounts from activity and from the accounts. */
async function takeBack(tx: Transaction): Promise<void> {
  await tx`
    UPDATE activity a SET forfeited_nano = a.forfeited_nano - f.amount
    FROM (
      SELECT organization_id, day, workspace_id, key_hash, COALESCE(model, '') AS model, sum(cost_nano) AS amount
      FROM forgiven WHERE account_id IS NULL GROUP BY organization_id, day, workspace_id, key_hash, COALESCE(model, '')) AS f
    WHERE a.organization_id = f.organization_id AND a.day = f.day AND a.workspace_id = f.workspace_id AND a.key_hash = f.key_hash AND a.model = f.model`
  const contributions = `WITH facts AS MATERIALIZED (${factsOf('forgiven')}) ${CONTRIBUTIONS}`
  // A window that has ended is not changed: it no longer counts against any limit.
  const sets = SPANS.map((span) => `${span}_spent_nano = a.${span}_spent_nano - f.${span}`)
  const sums = SPANS.map((span) => `COALESCE(sum(c.spent) FILTER (WHERE ${inWindow(span)}), 0) AS ${span}`)
  await tx.unsafe(`
    UPDATE accounts a SET ${sets.join(', ')}
    FROM (
      SELECT a.id, ${sums.join(', ')} FROM accounts a JOIN (${contributions}) AS c ON c.account_id = a.id WHERE c.spent > 0 GROUP BY a.id) AS f
    WHERE a.id = f.id`)
}

async function note(
  tx: Transaction,
  { note: why, ...query }: ForfeitQuery & { readonly note: string },
  by: ChangedBy,
): Promise<Forgiven> {
  const rows = await tx<{ organization_id: string; forfeits: number; amount: string }[]>`
    SELECT organization_id, count(*)::int AS forfeits, sum(cost_nano)::text AS amount FROM forgiven GROUP BY organization_id`
  await appendAudit(
    tx,
    ...rows.map((row) => ({
      ...by,
      organizationId: row.organization_id,
      workspaceId: null,
      operation: 'cli.ledger-forgive',
      outcome: 'changed' as const,
      objectKind: 'forfeits',
      objectId: query.requestId ?? query.journalId ?? `before ${query.before ?? ''}`,
      before: null,
      after: { forfeits: row.forfeits, amount_nano: row.amount, note: why },
    })),
  )
  return {
    forfeits: rows.reduce((sum, { forfeits }) => sum + forfeits, 0),
    amountNano: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  }
}

function inputsOf(sql: Queryable, { journalId, requestId, before }: ForfeitQuery) {
  return sql`
    ${journalId === undefined ? sql`` : sql`AND journal_id = ${journalId}`}
    ${requestId === undefined ? sql`` : sql`AND request_id = ${requestId}`}
    ${before === undefined ? sql`` : sql`AND day < ${before}::date`}`
}

function forfeitOf(row: ForfeitRow): Forfeit {
  return {
    day: row.day,
    at: row.at,
    requestId: row.request_id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    accountId: row.account_id,
    journalId: row.journal_id,
    model: row.model,
    costNano: BigInt(row.cost_nano),
    releasedNano: BigInt(row.released_nano),
  }
}
