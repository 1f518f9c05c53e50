import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { INSTANT_RULES, instantOf } from '../../../schemas/values/instants.ts'
import type { ApiKey, CurrentKeyAnswer } from '../../../schemas/keys/keys.ts'
import type { KeyRef, ManagedKey } from '../../ports/keys/api-keys.ts'
import type { Ports } from '../../ports/ports.ts'
import { type Call } from '../define.ts'
import { modelsRemark } from '../../../schemas/keys/permissions.ts'
import { nanoOfUsd, usdOfNano } from '../../../schemas/money/costs.ts'

/** Statuses of every operation that names a key. B2.10. */
export const KEY_STATUSES_LISTED = [404, 429, 500] as const
/** Failures of every operation that names a key. B2.10. */
export const KEY_FAILURES = ['store_unavailable'] as const satisfies readonly FailureName[]

export const EXAMPLE_HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

/** Wire value for no limit in members that must be numbers. */
const NO_LIMIT = -1

/** A key in the form of B2.10. */
export function keyAnswer(key: ManagedKey): ApiKey {
  return {
    hash: key.hash,
    name: key.name,
    label: key.label,
    workspace_id: key.workspaceId ?? key.defaultWorkspaceId,
    disabled: key.isDisabled,
    ...limitsOf(key),
    ...usageOf(key),
    creator_user_id: key.creatorUserId,
    external_user: key.externalUser,
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt?.toISOString() ?? null,
    ...expiryOf(key),
    kind: key.kind,
    rate_limit_rpm: key.rateLimitRpm,
    rate_limit_burst: key.rateLimitBurst,
    ...key.callLimits,
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    scopes: key.scopes === null ? null : [...key.scopes],
    intern_id: key.internId,
  }
}

/** The caller's own key in the form of B2.10. */
export function currentKeyAnswer(key: ManagedKey): CurrentKeyAnswer {
  const isManagement = key.kind === 'management'
  return {
    data: {
      label: key.label,
      ...limitsOf(key),
      ...usageOf(key),
      is_free_tier: false,
      is_management_key: isManagement,
      is_provisioning_key: isManagement,
      workspace_id: key.workspaceId,
      organization_id: key.organizationId,
      creator_user_id: key.creatorUserId,
      allowed_data_regions: [],
      // Sluice has no free tier.
      free_model_daily_requests: { limit: NO_LIMIT, used: 0, remaining: NO_LIMIT },
      rate_limit: {
        requests: key.rateLimitRpm ?? NO_LIMIT,
        interval: '1m',
        note: 'Requests a minute; -1: no limit.',
      },
      ...expiryOf(key),
      hash: key.hash,
      kind: key.kind,
      rate_limit_burst: key.rateLimitBurst,
      ...key.callLimits,
      allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
      scopes: key.scopes === null ? null : [...key.scopes],
    },
  }
}

export const REMARK_HEADERS = {
  'x-sluice-remark': 'Entries of `allowed_models` that match no model in the catalogue.',
}

/** Headers of the reply when a key is given a list of models. C25. */
export function remarkOn(
  allowed: readonly string[] | null | undefined,
  { models: { models } }: Pick<Ports, 'models'>,
): { readonly headers?: Readonly<Record<string, string>> } {
  const remark = modelsRemark(
    allowed,
    models.map(({ id }) => id),
  )
  return remark === null ? {} : { headers: { 'x-sluice-remark': `allowed_models: ${remark}` } }
}

function limitsOf({ limitNano, limitReset, countsByok, countedNano }: ManagedKey) {
  const left = limitNano === null || countedNano > limitNano ? 0n : limitNano - countedNano
  return {
    limit: limitNano === null ? null : usdOfNano(limitNano),
    limit_remaining: limitNano === null ? null : usdOfNano(left),
    limit_reset: limitReset,
    include_byok_in_limit: countsByok,
  }
}

function usageOf({ spent, byok }: ManagedKey) {
  return {
    usage: usdOfNano(spent.lifetime),
    usage_daily: usdOfNano(spent.daily),
    usage_weekly: usdOfNano(spent.weekly),
    usage_monthly: usdOfNano(spent.monthly),
    byok_usage: usdOfNano(byok.lifetime),
    byok_usage_daily: usdOfNano(byok.daily),
    byok_usage_weekly: usdOfNano(byok.weekly),
    byok_usage_monthly: usdOfNano(byok.monthly),
  }
}

function expiryOf({ expiresAt }: ManagedKey): { expires_at?: string } {
  return expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }
}

export function refOf({ key, params }: Pick<Call<{ readonly hash: string }>, 'key' | 'params'>): KeyRef {
  return { organizationId: key.organizationId, hash: params.hash }
}

/**
 * The limit in nano-USD; null stays null. The schema has checked the number of USD, so the conversion cannot
 * fail.
 */
export function limitOf(usd: number | null): bigint | null {
  return usd === null ? null : nanoOfUsd(usd)
}

/** Failure: body_invalid, for a text that is not a time, or a time that is not in the future. */
export function expiryFrom(text: string | null): Outcome<Date | null> {
  if (text === null) return ok(null)
  const instant = instantOf(text)
  if (instant === null) return wrongMember('/expires_at', 'has the wrong form', INSTANT_RULES)
  return instant.getTime() > Date.now()
    ? ok(instant)
    : wrongMember('/expires_at', 'is in the past', 'a date and time in the future')
}

export function wrongMember(path: string, message: string, expected: string): Outcome<never> {
  return fail('body_invalid', { metadata: { issues: [{ path, message, expected }] } })
}
