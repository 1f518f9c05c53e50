import type { KeyRef, ManagedKey } from '../../ports/keys/api-keys.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import { lockAccounts } from '../money/accounts.ts'
import { findKey, findKeyRow } from './key-rows.ts'
import type { Transaction } from '../base/open.ts'

export interface KeyResult<T> {
  readonly value: T
  readonly changes: readonly Invalidation[]
}

export interface LockedKey {
  readonly accountId: string
  readonly key: ManagedKey
}

/** Locks the account first and then the key, in the order of all transactions. */
export async function findLocked(tx: Transaction, ref: KeyRef): Promise<LockedKey | null> {
  const seen = await findKeyRow(tx, ref)
  if (seen === null) return null
  await lockAccounts(tx, [seen.account_id])
  await tx`SELECT 1 FROM api_keys WHERE hash = ${ref.hash} FOR UPDATE`
  // The row that was read before the lock may be outdated by now.
  const key = await findKey(tx, ref)
  return key === null ? null : { accountId: seen.account_id, key }
}

/** A key that this transaction has locked or made. */
export async function lookAt(tx: Transaction, hash: string): Promise<ManagedKey> {
  const key = await findKey(tx, { organizationId: null, hash })
  if (key === null) throw new Error('a key locked by this transaction no longer exists')
  return key
}
