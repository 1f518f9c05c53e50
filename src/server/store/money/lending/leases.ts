import type { Day } from '../../../ports/money/money.ts'
import type { Transaction } from '../../base/open.ts'

export interface Lease {
  readonly accountId: string
  readonly day: Day
  readonly lentNano: bigint
}

/** Leases of a journal; they change only under the lock of their account. @param accountIds null = all accounts */
export async function leasesOf(
  tx: Transaction,
  journalId: string,
  accountIds: readonly string[] | null,
): Promise<readonly Lease[]> {
  const rows = await tx<LeaseRow[]>`
    SELECT account_id, day::text, lent_nano FROM leases
    WHERE journal_id = ${journalId}
      AND ${accountIds === null ? tx`true` : tx`account_id = ANY(string_to_array(${accountIds.join(',')}, ','))`}`
  return rows.map(leaseOf)
}

/**
 * Leases of accounts at other fronts, by day. Holds of jobs are left out, since they remain until their jobs
 * end.
 * @param journalId null = the leases of all fronts
 */
export async function leasesElsewhere(
  tx: Transaction,
  journalId: string | null,
  accountIds: readonly string[],
): Promise<readonly Lease[]> {
  const rows = await tx<LeaseRow[]>`
    SELECT account_id, day::text, sum(lent_nano)::bigint AS lent_nano FROM leases
    WHERE account_id = ANY(string_to_array(${accountIds.join(',')}, ',')) AND NOT is_hold AND journal_id IS DISTINCT FROM ${journalId}
    GROUP BY 1, 2`
  return rows.map(leaseOf)
}

export async function addLeases(tx: Transaction, journalId: string, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return
  await tx`
    INSERT INTO leases (journal_id, account_id, day, lent_nano)
    SELECT ${journalId}, x.account_id, x.day, x.lent_nano FROM json_to_recordset(${jsonOf(leases)}::text::json)
      AS x(account_id text, day date, lent_nano bigint)
    ON CONFLICT (journal_id, account_id, day) DO UPDATE SET lent_nano = leases.lent_nano + excluded.lent_nano`
}

/** Money that a job holds from its acceptance to its end, with its own id. */
export interface HoldLease extends Lease {
  readonly holdId: string
}

/** @param leases of new holds, each account once in each hold */
export async function addHolds(tx: Transaction, leases: readonly HoldLease[]): Promise<void> {
  if (leases.length === 0) return
  const rows = leases.map(({ holdId, accountId, day, lentNano }) => ({
    hold_id: holdId,
    account_id: accountId,
    day,
    lent_nano: String(lentNano),
  }))
  await tx`
    INSERT INTO leases (journal_id, account_id, day, lent_nano, is_hold)
    SELECT x.hold_id, x.account_id, x.day, x.lent_nano, true FROM json_to_recordset(${JSON.stringify(rows)}::text::json)
      AS x(hold_id uuid, account_id text, day date, lent_nano bigint)`
}

/** @param leases with the rest of their money; leases with 0 are removed */
export async function saveLeases(
  tx: Transaction,
  journalId: string,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length === 0) return
  await tx`
    WITH x AS (SELECT * FROM json_to_recordset(${jsonOf(leases)}::text::json) AS x(account_id text, day date, lent_nano bigint)),
    gone AS (
      DELETE FROM leases AS l USING x
      WHERE l.journal_id = ${journalId} AND l.account_id = x.account_id AND l.day = x.day AND x.lent_nano = 0)
    UPDATE leases AS l SET lent_nano = x.lent_nano FROM x
    WHERE l.journal_id = ${journalId} AND l.account_id = x.account_id AND l.day = x.day AND x.lent_nano > 0`
}

interface LeaseRow {
  readonly account_id: string
  readonly day: Day
  readonly lent_nano: string
}

function leaseOf(row: LeaseRow): Lease {
  return { accountId: row.account_id, day: row.day, lentNano: BigInt(row.lent_nano) }
}

function jsonOf(leases: readonly Lease[]): string {
  return JSON.stringify(
    leases.map((lease) => ({
      account_id: lease.accountId,
      day: lease.day,
      lent_nano: String(lease.lentNano),
    })),
  )
}
