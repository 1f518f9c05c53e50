import type { CachedKind, Invalidation } from '../../ports/keys/keys.ts'
import type { Span } from '../../ports/money/money.ts'
import { accountOf, type Account, type AccountRow } from './accounts.ts'
import { bump } from '../base/epoch.ts'
import { frontsAt } from '../nodes/fronts.ts'
import { newId } from '../base/ids.ts'
import { rolledTo } from './lending/counters.ts'
import type { Queryable, Transaction } from '../base/open.ts'

/** A finite limit of an account. */
export interface AccountLimit {
  readonly id: string
  readonly span: Span
  readonly limitNano: bigint
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** An account as of today: counts of windows that have ended are 0. */
export interface AccountNow extends Account {
  readonly limits: readonly AccountLimit[]
  /** Epoch of the last change of its limits. */
  readonly limitsEpoch: number
}

/** Milliseconds between two reads of the epochs that fronts have reported. */
const LOOK_MS = 10

/**
 * Accounts with their limits, in one snapshot. Only the authority moves an account to a new day; this read
 * computes the new windows itself.
 * @returns the accounts in the order of their ids; ids that do not exist are left out
 */
export async function readAccounts(sql: Queryable, ids: readonly string[]): Promise<readonly AccountNow[]> {
  if (ids.length === 0) return []
  const rows = await sql<LimitedRow[]>`
    SELECT a.*, a.day::text AS day, greatest(a.day, utc_today())::text AS today,
      l.id AS limit_id, l.span, l.limit_nano, l.created_at, l.updated_at
    FROM accounts a LEFT JOIN account_limits l ON l.account_id = a.id
    WHERE a.id = ANY(string_to_array(${ids.join(',')}, ',')) ORDER BY a.id`
  const found = new Map<string, AccountNow & { readonly limits: AccountLimit[] }>()
  for (const row of rows) {
    const account = found.get(row.id) ?? {
      ...rolledTo(accountOf(row), row.today),
      limits: [],
      limitsEpoch: Number(row.limits_epoch),
    }
    found.set(row.id, account)
    const limit = limitOf(row)
    if (limit !== null) account.limits.push(limit)
  }
  return [...found.values()]
}

/** Sets the limit of an account, which the caller has locked; an existing limit keeps its id. */
export async function putLimit(
  tx: Transaction,
  accountId: string,
  { span, limitNano }: Pick<AccountLimit, 'span' | 'limitNano'>,
): Promise<void> {
  await tx`
    INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${accountId}, ${span}, ${newId()}, ${String(limitNano)})
    ON CONFLICT (account_id, span) DO UPDATE SET limit_nano = excluded.limit_nano, updated_at = clock_timestamp()`
}

/** Nano-USD that count against a limit of that span: spend, including byok if it counts. Design §6. */
export function countedNano({ spent, byok, countsByok }: Account, span: Span): bigint {
  return spent[span] + (countsByok ? byok[span] : 0n)
}

/** True when lent money can no longer exceed the limit. */
export function isWithin(
  account: Account,
  { span, limitNano }: Pick<AccountLimit, 'span' | 'limitNano'>,
): boolean {
  return countedNano(account, span) + account.lent[span] <= limitNano
}

/**
 * Informs fronts that the limits of an account, or the sums that count against them, have changed. Must be the
 * last statement of its transaction, as `bump` must; the account must be locked first.
 * @param kind of the cached records that contain the account
 */
export async function bumpLimits(
  tx: Transaction,
  accountId: string,
  { kind, id }: { readonly kind: CachedKind; readonly id: string },
): Promise<Invalidation> {
  const change = await bump(tx, kind, id)
  await tx`UPDATE accounts SET limits_epoch = ${change.n} WHERE id = ${accountId}`
  return change
}

/**
 * True when every live front has reported an epoch: until then some may spend under the earlier limits. Hints
 * arrive within milliseconds, so that a caller that changed a limit can wait for the fronts.
 */
export async function isApplied(sql: Queryable, epoch: number, waitMs = 0): Promise<boolean> {
  const endsAt = performance.now() + waitMs
  for (;;) {
    if ((await frontsAt(sql, epoch)).behind === 0) return true
    if (performance.now() >= endsAt) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

type LimitedRow = AccountRow &
  LimitColumns & {
    readonly today: string
    readonly limits_epoch: string
  }

/** Columns of a limit; all null without a limit. */
interface LimitColumns {
  readonly limit_id: string | null
  readonly span: Span | null
  readonly limit_nano: string | null
  readonly created_at: Date | null
  readonly updated_at: Date | null
}

function limitOf({
  limit_id: id,
  span,
  limit_nano,
  created_at: createdAt,
  updated_at: updatedAt,
}: LimitColumns): AccountLimit | null {
  if (id === null || span === null || limit_nano === null || createdAt === null || updatedAt === null)
    return null
  return { id, span, limitNano: BigInt(limit_nano), createdAt, updatedAt }
}
