import { keyAnswer } from '../../operations/keys/key-answers.ts'
import type { ManagedKey } from '../../ports/keys/api-keys.ts'
import { table } from '../parts/verb.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

/** A key for scripts: the API's form, and its owner. */
export function wireOf(key: ManagedKey): object {
  return {
    ...keyAnswer(key),
    organization_id: key.organizationId,
    workspace_id: key.workspaceId,
    expires_at: key.expiresAt?.toISOString() ?? null,
  }
}

export function tableOf(keys: readonly ManagedKey[]): string {
  const rows = keys.map((key) => [
    key.name,
    key.kind,
    key.isDisabled ? 'disabled' : 'enabled',
    usd(key.spent.lifetime),
    limitOf(key),
    key.rateLimitRpm === null ? 'none' : String(key.rateLimitRpm),
    key.rateLimitRpm === null ? 'none' : String(key.rateLimitBurst ?? 'default'),
    key.expiresAt?.toISOString() ?? 'never',
    key.workspaceId ?? `organization ${key.organizationId}`,
    key.hash,
  ])
  return table([
    ['NAME', 'KIND', 'STATE', 'USED', 'LIMIT', 'RPM', 'BURST', 'EXPIRES', 'WORKSPACE', 'HASH'],
    ...rows,
  ])
}

/** All facts of one key, a line for each. */
export function linesOf(key: ManagedKey): string {
  const lines = Object.entries(wireOf(key)).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(' ') : String(value ?? 'none'),
  ])
  return table(lines)
}

function limitOf({ limitNano, limitReset }: ManagedKey): string {
  return limitNano === null ? 'none' : `${usd(limitNano)} ${limitReset ?? 'lifetime'}`
}

/** USD in plain digits without a power of ten: people look for small amounts here. */
function usd(nano: bigint): string {
  return usdOfNano(nano)
    .toFixed(9)
    .replace(/\.?0+$/, '')
}
