import { fail, type Outcome } from '../../../schemas/failures.ts'
import { burstMistake } from '../../../schemas/values/rate-burst.ts'
import { keyAccount } from '../../../schemas/money/accounts.ts'
import type { CallLimits } from '../../../schemas/limits/model-calls.ts'
import { labelOf, newApiKey, type ApiKeyKind } from '../../../schemas/keys/api-keys.ts'
import type { KeyScope } from '../../../schemas/keys/permissions.ts'
import type { KeyLimits } from '../../ports/keys/api-keys.ts'
import { bearAccount } from '../money/accounts.ts'
import { setKeyLimit } from './key-limits.ts'
import type { Transaction } from '../base/open.ts'

/** Fields of a key in addition to its owner; left out: no limits, all models. */
export interface KeyTraits extends Partial<KeyLimits> {
  readonly rateLimitBurst?: number | null
  readonly callLimits?: Partial<CallLimits>
  readonly allowedModels?: readonly string[] | null
  readonly scopes?: readonly KeyScope[] | null
  readonly creatorUserId?: string | null
  readonly externalUser?: string | null
}

export interface KeyBirth {
  readonly kind: ApiKeyKind
  readonly name: string
  readonly organizationId: string
  readonly workspaceId: string | null
  readonly internId: string | null
  readonly rateLimitRpm: number | null
  readonly expiresAt: Date | null
  readonly isDisabled?: boolean
  readonly traits?: KeyTraits
}

export interface BornKey {
  readonly hash: string
  /** The plain key: Sluice keeps no copy and never shows it again. */
  readonly key: string
}

/** Inserts a key with its account and its limit. The caller writes the audit log and informs the fronts. */
export async function bearKey(tx: Transaction, birth: KeyBirth): Promise<BornKey> {
  const { key, hash } = newApiKey(birth.kind)
  const accountId = keyAccount(hash)
  await bearAccount(tx, { id: accountId, ownerKind: 'key', organizationId: birth.organizationId })
  await insertKeyRow(tx, { key, hash }, accountId, birth)
  const { limitNano = null, limitReset = null, countsByok = false } = birth.traits ?? {}
  if (limitNano !== null || limitReset !== null || countsByok)
    await setKeyLimit(tx, accountId, { limitNano, limitReset, countsByok })
  return { hash, key }
}

/** Inserts a key that uses another key's account, whose row the caller has locked. */
export async function bearSuccessor(tx: Transaction, accountId: string, birth: KeyBirth): Promise<BornKey> {
  const born = newApiKey(birth.kind)
  await insertKeyRow(tx, born, accountId, birth)
  return born
}

/** Refuses a burst that does not fit the limit of its key. Failure: body_invalid. */
export function burstRefusal(
  burst: number | null | undefined,
  limitRpm: number | null,
): Outcome<never> | null {
  const mistake = burstMistake(burst ?? null, limitRpm)
  if (mistake === null) return null
  return fail('body_invalid', { metadata: { issues: [{ path: '/rate_limit_burst', ...mistake }] } })
}

async function insertKeyRow(
  tx: Transaction,
  { key, hash }: BornKey,
  accountId: string,
  birth: KeyBirth,
): Promise<void> {
  const {
    limitReset = null,
    rateLimitBurst = null,
    callLimits = {},
    allowedModels = null,
    scopes = null,
    creatorUserId = null,
    externalUser = null,
  } = birth.traits ?? {}
  await tx`
    INSERT INTO api_keys ${tx({
      hash,
      label: labelOf(key),
      account_id: accountId,
      kind: birth.kind,
      name: birth.name,
      organization_id: birth.organizationId,
      workspace_id: birth.workspaceId,
      intern_id: birth.internId,
      rate_limit_rpm: birth.rateLimitRpm,
      rate_limit_burst: rateLimitBurst,
      call_limits: tx.json({ ...callLimits }),
      is_disabled: birth.isDisabled ?? false,
      limit_reset: limitReset,
      allowed_models: allowedModels === null ? null : tx.json([...allowedModels]),
      scopes: scopes === null ? null : tx.json([...scopes]),
      creator_user_id: creatorUserId,
      external_user: externalUser,
      expires_at: birth.expiresAt,
    })}`
}
