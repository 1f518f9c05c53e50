import type { Flush, FlushResult } from '../../../ports/money/lending.ts'
import type { Log } from '../../../ports/observe.ts'
import { lockAccounts } from '../accounts.ts'
import type { Transaction } from '../../base/open.ts'
import { Books } from './books.ts'
import { leasesOf } from './leases.ts'
import { post } from './post.ts'

/** Applies a batch exactly once, even if it is sent repeatedly. Locks: the journal's row, then the accounts. */
export async function flush(
  tx: Transaction,
  { journalId, from, to, entries }: Flush,
  log: Log,
): Promise<FlushResult> {
  const books = new Books()
  for (const entry of entries) books.add(entry)
  // Sent together; Postgres runs them one after the other, so that leases are read under their accounts' locks.
  const [isNew, accounts, leases] = await Promise.all([
    advance(tx, { journalId, from, to }),
    lockAccounts(tx, books.accountIds),
    leasesOf(tx, journalId, books.accountIds),
  ])
  if (!isNew) return standing(tx, { journalId, from, to })
  await post(tx, { journalId, books, accounts, leases, log })
  return 'applied'
}

/** Locks the journal's row. @returns false for a batch that does not follow the applied offset */
async function advance(tx: Transaction, { journalId, from, to }: Omit<Flush, 'entries'>): Promise<boolean> {
  const { count } = await tx`
    UPDATE journals SET applied = ${to} WHERE id = ${journalId} AND applied = ${from} AND state = 'open'`
  return count > 0
}

/**
 * The result for a batch that does not follow the applied offset: this batch, or another one with the same
 * start, was applied earlier, or the journal has ended.
 */
async function standing(
  tx: Transaction,
  { journalId, from, to }: Omit<Flush, 'entries'>,
): Promise<FlushResult> {
  const [journal] = await tx<
    { state: string; applied: string }[]
  >`SELECT state, applied FROM journals WHERE id = ${journalId}`
  if (journal === undefined || journal.state === 'closed') return 'fenced'
  const standsAt = Number(journal.applied)
  if (standsAt === to) return 'applied'
  if (standsAt > from) return { standsAt }
  throw new Error(`journal ${journalId} applied up to ${journal.applied}, got a batch from ${from} to ${to}`)
}
