import type { AccountKind, Span } from '../../ports/money/money.ts'
import type { Transaction } from '../base/open.ts'

/** An account that fronts borrow from. Whole nano-USD. Design §6. */
export interface Account {
  readonly id: string
  readonly ownerKind: AccountKind
  readonly organizationId: string
  /** The day of its windows, `YYYY-MM-DD`. */
  readonly day: string
  /** Calls with a workspace's own credentials count against its limits. */
  readonly countsByok: boolean
  readonly spent: PerSpan
  readonly byok: PerSpan
  readonly lent: PerSpan
}

export type PerSpan = Readonly<Record<Span, bigint>>

/** Creates the account of a new owner, in the transaction that creates the owner, so that readers never find it missing. */
export async function bearAccount(
  tx: Transaction,
  account: Pick<Account, 'id' | 'ownerKind' | 'organizationId'>,
): Promise<void> {
  await tx`INSERT INTO accounts (id, owner_kind, organization_id) VALUES (${account.id}, ${account.ownerKind}, ${account.organizationId})`
}

/**
 * Locks accounts until the transaction ends, and reads them. They are always locked in the order of their ids:
 * without an order two borrowing fronts would deadlock within a second. Design §6.
 * @returns the rows in the order of their ids; ids that do not exist are left out
 */
export async function lockAccounts(tx: Transaction, ids: readonly string[]): Promise<readonly Account[]> {
  if (ids.length === 0) return []
  const rows = await tx<AccountRow[]>`
    SELECT *, day::text AS day FROM accounts WHERE id = ANY(string_to_array(${ids.join(',')}, ',')) ORDER BY id FOR UPDATE`
  return rows.map(accountOf)
}

type Counters = { readonly [name in `${Span}_${'spent' | 'byok' | 'lent'}_nano`]: string }

export interface AccountRow extends Counters {
  readonly id: string
  readonly owner_kind: AccountKind
  readonly organization_id: string
  readonly day: string
  readonly counts_byok: boolean
}

export function accountOf(row: AccountRow): Account {
  const perSpan = (counter: 'spent' | 'byok' | 'lent'): PerSpan => ({
    daily: BigInt(row[`daily_${counter}_nano`]),
    weekly: BigInt(row[`weekly_${counter}_nano`]),
    monthly: BigInt(row[`monthly_${counter}_nano`]),
    lifetime: BigInt(row[`lifetime_${counter}_nano`]),
  })
  return {
    id: row.id,
    ownerKind: row.owner_kind,
    organizationId: row.organization_id,
    day: row.day,
    countsByok: row.counts_byok,
    spent: perSpan('spent'),
    byok: perSpan('byok'),
    lent: perSpan('lent'),
  }
}
