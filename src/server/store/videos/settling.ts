import type { OpenVideoState } from '../../../schemas/videos/video-jobs.ts'
import type { BookedCall } from '../../ports/money/lending.ts'
import type { Day } from '../../ports/money/money.ts'
import type { Log } from '../../ports/observe.ts'
import { lockAccounts } from '../money/accounts.ts'
import { Books, ledgerRow } from '../money/lending/books.ts'
import { NO_FIGURES } from '../money/lending/ledger-rows.ts'
import type { Lease } from '../money/lending/leases.ts'
import { post } from '../money/lending/post.ts'
import type { Transaction } from '../base/open.ts'
import type { VideoRow } from './rows.ts'

/** Columns of a job that this transaction has ended. */
export type SettledRow = Pick<
  VideoRow,
  | 'organization_id'
  | 'workspace_id'
  | 'key_hash'
  | 'key_account_id'
  | 'request_id'
  | 'model'
  | 'provider'
  | 'own_secret'
  | 'seconds'
  | 'cost_nano'
  | 'hold_id'
> & { readonly hold_day: Day; readonly ended_at: Date }

/** `charged`: the cost is spent. `lost`: an `overrun`, which counts for no account, though the provider may charge. `free`: nothing is booked. */
export type Settling = 'charged' | 'lost' | 'free'

/** The settlement of an abandoned job: once the job was submitted, the provider may have made the video and charge for it. */
export function unfinished(was: OpenVideoState): Settling {
  return was === 'accepted' ? 'free' : 'lost'
}

const OPERATION = 'video.create'
const MS_PER_S = 1_000

/**
 * Books the ends of jobs: each hold returns, and the cost of completed jobs counts in the window of their
 * acceptance. Each job is booked once, since its row ends once. Locks the accounts; nothing is locked after
 * them.
 */
export async function settle(
  tx: Transaction,
  ended: readonly { readonly row: SettledRow; readonly settling: Settling }[],
  log: Log,
): Promise<void> {
  if (ended.length === 0) return
  const books = new Books()
  const leases = await takeHolds(
    tx,
    ended.map(({ row }) => row.hold_id),
  )
  for (const { accountId, day, lentNano } of leases) books.entryOf(accountId, day).fromLease += lentNano
  for (const { row, settling } of ended) book(books, row, settling)
  const accounts = await lockAccounts(tx, books.accountIds)
  await post(tx, { journalId: null, books, accounts, leases, log })
}

/**
 * Removes the leases of holds. This transaction has locked the rows of their jobs, so that no other
 * transaction changes them; a transaction that counts leases under an account's lock sees them until the
 * commit that also changes the account.
 */
async function takeHolds(tx: Transaction, holdIds: readonly string[]): Promise<readonly Lease[]> {
  const rows = await tx<{ account_id: string; day: Day; lent_nano: string }[]>`
    WITH gone AS (
      DELETE FROM leases WHERE journal_id = ANY(string_to_array(${holdIds.join(',')}, ',')::uuid[]) RETURNING account_id, day, lent_nano)
    SELECT account_id, day::text AS day, sum(lent_nano)::bigint AS lent_nano FROM gone GROUP BY 1, 2`
  return rows.map((row) => ({ accountId: row.account_id, day: row.day, lentNano: BigInt(row.lent_nano) }))
}

function book(books: Books, row: SettledRow, settling: Settling): void {
  switch (settling) {
    // The hold has returned to its accounts already, so that no part of the cost is taken from it.
    case 'charged':
      return books.add({ ...entryOf(row), paid: NONE })
    case 'lost':
      if (row.cost_nano !== '0')
        books.ledger.push({
          ...ledgerRow(entryOf(row), 'overrun', row.cost_nano),
          ...NO_FIGURES,
        })
      return
    case 'free':
      return
    default:
      settling satisfies never
  }
}

const NONE = { organization: false, workspace: false, key: false }

function entryOf(row: SettledRow) {
  const call: BookedCall = {
    day: row.hold_day,
    atMs: row.ended_at.getTime(),
    requestId: row.request_id,
    operation: OPERATION,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    keyAccountId: row.key_account_id,
    model: row.model,
  }
  return {
    ...call,
    kind: 'settle' as const,
    provider: row.provider,
    tokens: 0,
    milliseconds: row.seconds * MS_PER_S,
    costNano: Number(row.cost_nano),
    overrunNano: 0,
    isByok: row.own_secret !== null,
    isEstimated: false,
    paid: NONE,
  }
}
