import type { KeyLimits } from '../../ports/keys/api-keys.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import { bumpLimits, putLimit } from '../money/account-limits.ts'
import type { Transaction } from '../base/open.ts'

/** Time by which clocks of fronts may differ: a front whose clock is slow may still accept a key that expired recently. */
const CLOCKS_APART = '1 minute'

/**
 * Sets the limit of a key's account for the interval of its resets; the account of a key has only one limit.
 * The caller has locked the account, and informs the fronts. Design §6.
 */
export async function setKeyLimit(
  tx: Transaction,
  accountId: string,
  { limitNano, limitReset, countsByok }: KeyLimits,
): Promise<void> {
  const span = limitReset ?? 'lifetime'
  await tx`UPDATE accounts SET counts_byok = ${countsByok} WHERE id = ${accountId} AND counts_byok <> ${countsByok}`
  // All keys of the account show the same reset interval.
  await tx`UPDATE api_keys SET limit_reset = ${limitReset} WHERE account_id = ${accountId} AND limit_reset IS DISTINCT FROM ${limitReset}`
  await tx`DELETE FROM account_limits WHERE account_id = ${accountId} AND (span <> ${span} OR ${limitNano === null})`
  if (limitNano !== null) await putLimit(tx, accountId, { span, limitNano })
}

/**
 * Informs the fronts of a change of limits, by every key that uses the account, which the caller has locked.
 * To be called last.
 */
export async function tellOfLimits(tx: Transaction, accountId: string): Promise<readonly Invalidation[]> {
  const keys = await tx<{ hash: string }[]>`
    SELECT hash FROM api_keys WHERE account_id = ${accountId} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp() - ${CLOCKS_APART}::interval) ORDER BY hash`
  const changes: Invalidation[] = []
  for (const { hash } of keys) changes.push(await bumpLimits(tx, accountId, { kind: 'key', id: hash }))
  return changes
}
