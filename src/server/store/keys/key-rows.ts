import type { ApiKeyKind } from '../../../schemas/keys/api-keys.ts'
import { callLimitsOf, type CallLimits } from '../../../schemas/limits/model-calls.ts'
import type { LimitReset } from '../../../schemas/keys/keys.ts'
import { keptBurst } from '../../../schemas/values/rate-burst.ts'
import type { KeyScope } from '../../../schemas/keys/permissions.ts'
import type { KeyRef, ManagedKey } from '../../ports/keys/api-keys.ts'
import { countedNano, readAccounts, type AccountNow } from '../money/account-limits.ts'
import type { Queryable, Transaction } from '../base/open.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import { lockAccounts } from '../money/accounts.ts'

/** Columns of `api_keys`. */
export interface KeyRow {
  readonly hash: string
  readonly label: string
  readonly account_id: string
  readonly kind: ApiKeyKind
  readonly name: string
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly intern_id: string | null
  readonly rate_limit_rpm: number | null
  readonly rate_limit_burst: number | null
  /** The limits that were set at least once. */
  readonly call_limits: Partial<CallLimits>
  readonly is_disabled: boolean
  readonly limit_reset: LimitReset | null
  readonly allowed_models: readonly string[] | null
  readonly scopes: readonly KeyScope[] | null
  readonly creator_user_id: string | null
  readonly external_user: string | null
  readonly expires_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date | null
}

/** A key with the default workspace of its organization, in which a management key acts. */
export type PlacedRow = KeyRow & { readonly default_workspace_id: string }

const HASH = /^[0-9a-f]{64}$/

/** True for a text that may be a key's hash: other texts are not sent to the store, where some of them cause errors. */
export function isHash(text: string): boolean {
  return HASH.test(text)
}

/** The query for key listings, without its conditions; `k` is the key. Revoked keys are included. */
export function placedKeys(sql: Queryable) {
  return sql`
    SELECT k.*, d.id AS default_workspace_id FROM api_keys k
    JOIN workspaces d ON d.organization_id = k.organization_id AND d.is_default AND d.deleted_at IS NULL`
}

/** The row of a key that is not revoked; it may have expired. @returns null if unknown, or owned by another organization */
export async function findKeyRow(
  sql: Queryable,
  { organizationId, hash }: KeyRef,
): Promise<PlacedRow | null> {
  if (!isHash(hash)) return null
  const [row] = await sql<PlacedRow[]>`
    ${placedKeys(sql)} WHERE k.hash = ${hash} AND k.revoked_at IS NULL
      AND ${organizationId === null ? sql`true` : sql`k.organization_id = ${organizationId}`}`
  return row ?? null
}

export async function findKey(sql: Queryable, ref: KeyRef): Promise<ManagedKey | null> {
  const row = await findKeyRow(sql, ref)
  const [key] = row === null ? [] : await managedKeysOf(sql, [row])
  return key ?? null
}

/** Keys with the current limits and usage of their accounts, in the order of the rows. */
export async function managedKeysOf(
  sql: Queryable,
  rows: readonly PlacedRow[],
): Promise<readonly ManagedKey[]> {
  const accounts = await readAccounts(
    sql,
    rows.map((row) => row.account_id),
  )
  const found = new Map(accounts.map((account) => [account.id, account]))
  return rows.map((row) => {
    const account = found.get(row.account_id)
    if (account === undefined) throw new Error('a key without its account')
    return managedKeyOf(row, account)
  })
}

function managedKeyOf(row: PlacedRow, account: AccountNow): ManagedKey {
  const span = row.limit_reset ?? 'lifetime'
  return {
    hash: row.hash,
    label: row.label,
    kind: row.kind,
    name: row.name,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    defaultWorkspaceId: row.default_workspace_id,
    internId: row.intern_id,
    isDisabled: row.is_disabled,
    rateLimitRpm: row.rate_limit_rpm,
    rateLimitBurst: keptBurst(row.rate_limit_burst, row.rate_limit_rpm),
    callLimits: callLimitsOf(row.call_limits),
    allowedModels: row.allowed_models,
    scopes: row.scopes,
    limitNano: account.limits.find((limit) => limit.span === span)?.limitNano ?? null,
    limitReset: row.limit_reset,
    countsByok: account.countsByok,
    countedNano: countedNano(account, span),
    spent: account.spent,
    byok: account.byok,
    creatorUserId: row.creator_user_id,
    externalUser: row.external_user,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
  }
}

export interface KeyResult<T> {
  readonly value: T
  readonly changes: readonly Invalidation[]
}

interface LockedKey {
  readonly accountId: string
  readonly key: ManagedKey
}

/** Locks the account first and then the key, in the order of all transactions. */
export async function findLocked(tx: Transaction, ref: KeyRef): Promise<LockedKey | null> {
  const seen = await findKeyRow(tx, ref)
  if (seen === null) return null
  await lockAccounts(tx, [seen.account_id])
  await tx`SELECT 1 FROM api_keys WHERE hash = ${ref.hash} FOR UPDATE`
  // The row that was read before the lock may be outdated.
  const key = await findKey(tx, ref)
  return key === null ? null : { accountId: seen.account_id, key }
}

/** Reads a key that this transaction has locked or created. */
export async function lookAt(tx: Transaction, hash: string): Promise<ManagedKey> {
  const key = await findKey(tx, { organizationId: null, hash })
  if (key === null) throw new Error('a key locked by this transaction no longer exists')
  return key
}
