import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { SECRETS_PAGE_MAX } from '../../../schemas/vault/vault-limits.ts'
import type { SecretPageQuery } from '../../../schemas/vault/vault.ts'
import type { OperationAccess } from '../define.ts'
import { ownWorkspaceOf } from '../define.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { SecretPageInput, VaultScope } from '../../ports/vault/vault.ts'

/** Keys with access to vaults: inference and intern keys; management keys are the wrong kind. C4. */
const KEYS = ['inference', 'intern'] as const
/** Scopes that may read names and hosts: keys that use the secrets, and keys that write them. Decision. */
const READ_SCOPES = ['vault:use', 'vault:write'] as const

/** Access to the workspace's own vault; an intern's key has no access. §4.4, C5. */
export const WORKSPACE_ACCESS = {
  keys: KEYS,
  keyScopes: READ_SCOPES,
  isOfProgramme: true,
  refusesRegional: true,
  scope: ({ key }): Outcome<null> => (key.kind === 'intern' ? fail('vault_unknown') : ok(null)),
} as const satisfies OperationAccess

/** Access to one intern's vault: unknown, foreign and other interns get the same reply. §4.4, B1.4. */
export const INTERN_ACCESS = {
  keys: KEYS,
  keyScopes: READ_SCOPES,
  isOfProgramme: true,
  refusesRegional: true,
  scope({ key, param }, ports) {
    const internId = param('intern_id')
    if (internId === null || (key.kind === 'intern' && key.internId !== internId.toLowerCase()))
      return fail('intern_unknown')
    return ports.vaults.see({ ...workspaceScope({ key }), internId })
  },
} as const satisfies OperationAccess

interface ScopedCall {
  readonly key: KeyRecord
}

export function workspaceScope({ key }: ScopedCall): VaultScope {
  return { organizationId: key.organizationId, workspaceId: ownWorkspaceOf(key), internId: null }
}

export function internScope(
  call: ScopedCall & { readonly params: { readonly intern_id: string } },
): VaultScope & { readonly internId: string } {
  return { ...workspaceScope(call), internId: call.params.intern_id.toLowerCase() }
}

export function pageOf({ limit, offset }: SecretPageQuery): SecretPageInput {
  return { limit: limit ?? SECRETS_PAGE_MAX, offset: offset ?? 0 }
}

/** Statuses of B2.4. */
export const VAULT_STATUSES = [400, 403, 404, 408, 429, 500, 502, 503, 504] as const

export const VAULT_FAILURES = [
  'store_unavailable',
  'deadline_exceeded',
  'client_gone',
  'draining',
] as const satisfies readonly FailureName[]

export const SEALING_FAILURES = [
  'data_key_unavailable',
  'busy',
  'vault_full',
  'internal',
] as const satisfies readonly FailureName[]

export const EXAMPLE_INTERN = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'
