import type { Log } from '../../../ports/observe.ts'
import type { Account } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import type { ActivityRow, Books } from './books.ts'
import { cappedNano, changedBy, COUNTER_NANO_MAX, saveAccounts } from './counters.ts'
import { saveLeases, type Lease } from './leases.ts'
import { insertLedger } from './ledger-rows.ts'

export interface Posting {
  /** Null: not the journal of a front. All its leases are then passed, and are already removed. */
  readonly journalId: string | null
  readonly books: Books
  /** Locked accounts; must include all accounts in the books. */
  readonly accounts: readonly Account[]
  /** Leases of the journal; one for each account and day. */
  readonly leases: readonly Lease[]
  readonly log: Log
}

/**
 * Writes the books. Two transactions with the same row of `activity` wait for each other before this call,
 * since both lock the account of its organization.
 */
export async function post(tx: Transaction, posting: Posting): Promise<void> {
  const { accounts, leases } = applied(posting)
  const { journalId, books } = posting
  await Promise.all([
    saveAccounts(tx, accounts),
    journalId === null ? null : saveLeases(tx, journalId, leases),
    insertLedger(tx, journalId, books.ledger),
    addActivity(tx, books.activity),
  ])
}

/** The accounts after the batch, and the leases that changed. */
function applied({ journalId, books, accounts, leases, log }: Posting): Pick<Posting, 'accounts' | 'leases'> {
  const held = new Map(leases.map((lease) => [`${lease.accountId} ${lease.day}`, lease]))
  const changed: Lease[] = []
  const after = accounts.map((account) => {
    let now = account
    for (const [day, { spent, byok, fromLease }] of books.entries.get(account.id) ?? []) {
      const lease = held.get(`${account.id} ${day}`)
      const lentNano = lease?.lentNano ?? 0n
      // This cannot happen while fronts spend only money lent to them. The spend is counted anyway: a refused
      // entry would block all later entries.
      const paid = fromLease <= lentNano ? fromLease : lentNano
      if (paid < fromLease)
        log.error('lease.exceeded', { journalId, accountId: account.id, day, fromLease, lentNano })
      if (lease !== undefined && paid > 0n) changed.push({ ...lease, lentNano: lentNano - paid })
      now = changedBy(now, day, { spent, byok, lent: -paid })
    }
    return now
  })
  if (after.length < books.entries.size) {
    const there = new Set(accounts.map(({ id }) => id))
    log.error('accounts.missing', { journalId, accountIds: books.accountIds.filter((id) => !there.has(id)) })
  }
  return { accounts: after, leases: changed }
}

async function addActivity(tx: Transaction, rows: readonly ActivityRow[]): Promise<void> {
  if (rows.length === 0) return
  const columns = rows.map((row) => ({
    ...row,
    spent: String(cappedNano(row.spent)),
    byok: String(cappedNano(row.byok)),
    forfeited: String(cappedNano(row.forfeited)),
  }))
  const most = String(COUNTER_NANO_MAX)
  await tx`
    INSERT INTO activity (organization_id, day, workspace_id, key_hash, model,
      requests, tokens, output_tokens, cached_tokens, milliseconds, spent_nano, byok_nano, forfeited_nano)
    SELECT * FROM json_to_recordset(${JSON.stringify(columns)}::text::json) AS x(organization_id uuid, day date, workspace_id uuid,
      key_hash text, model text, requests bigint, tokens bigint,
      output_tokens bigint, cached_tokens bigint, milliseconds bigint, spent bigint, byok bigint, forfeited bigint)
    ON CONFLICT (organization_id, day, workspace_id, key_hash, model) DO UPDATE SET
      requests = activity.requests + excluded.requests, tokens = activity.tokens + excluded.tokens,
      output_tokens = activity.output_tokens + excluded.output_tokens,
      cached_tokens = activity.cached_tokens + excluded.cached_tokens,
      milliseconds = activity.milliseconds + excluded.milliseconds,
      spent_nano = least(activity.spent_nano + excluded.spent_nano, ${most}::bigint),
      byok_nano = least(activity.byok_nano + excluded.byok_nano, ${most}::bigint),
      forfeited_nano = least(activity.forfeited_nano + excluded.forfeited_nano, ${most}::bigint)`
}
