import type { KeyLimits } from '../../ports/keys/api-keys.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import { bumpLimits, putLimit } from '../money/account-limits.ts'
import type { Transaction } from '../base/open.ts'

/**
 * Fronts tell by their own clocks whether a key has expired: one that did lately may still be served by one
 * that is behind.
 */
const CLOCKS_APART = '1 minute'

/**
 * Puts the limit of a key's account where its resets say; there is never another. The caller has locked the
 * account, and tells the fronts. Design §6.
 */
export async function setKeyLimit(
  tx: Transaction,
  accountId: string,
  { limitNano, limitReset, countsByok }: KeyLimits,
): Promise<void> {
  const span = limitReset ?? 'lifetime'
  await tx`UPDATE accounts SET counts_byok = ${countsByok} WHERE id = ${accountId} AND counts_byok <> ${countsByok}`
  // Whichever of its keys is read, it says the same.
  await tx`UPDATE api_keys SET limit_reset = ${limitReset} WHERE account_id = ${accountId} AND limit_reset IS DISTINCT FROM ${limitReset}`
  await tx`DELETE FROM account_limits WHERE account_id = ${accountId} AND (span <> ${span} OR ${limitNano === null})`
  if (limitNano !== null) await putLimit(tx, accountId, { span, limitNano })
}

/**
 * Tells the fronts of a change of limits by every key that draws on the account, which the caller has locked.
 * Last.
 */
export async function tellOfLimits(tx: Transaction, accountId: string): Promise<readonly Invalidation[]> {
  const keys = await tx<{ hash: string }[]>`
    SELECT hash FROM api_keys WHERE account_id = ${accountId} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp() - ${CLOCKS_APART}::interval) ORDER BY hash`
  const changes: Invalidation[] = []
  for (const { hash } of keys) changes.push(await bumpLimits(tx, accountId, { kind: 'key', id: hash }))
  return changes
}
