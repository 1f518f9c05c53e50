import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { SECRETS_PAGE_MAX } from '../../../schemas/vault/vault-limits.ts'
import type { SecretPageQuery } from '../../../schemas/vault/vault.ts'
import type { OperationAccess } from '../define.ts'
import { ownWorkspaceOf } from '../define.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { SecretPageInput, VaultScope } from '../../ports/vault/vault.ts'

/** Inference and intern keys: management keys are the wrong kind. C4. */
const KEYS = ['inference', 'intern'] as const
/** Names and hosts are for who uses the secrets, and for who writes them. Decision. */
const READ_SCOPES = ['vault:use', 'vault:write'] as const

/** Of the routes of the workspace's own vault: to an intern's key there is none. §4.4, C5. */
export const WORKSPACE_ACCESS = {
  keys: KEYS,
  keyScopes: READ_SCOPES,
  isOfProgramme: true,
  refusesRegional: true,
  scope: ({ key }): Outcome<null> => (key.kind === 'intern' ? fail('vault_unknown') : ok(null)),
} as const satisfies OperationAccess

/** Of the routes of one intern's: unknown, foreign and other interns are the same to a caller. §4.4, B1.4. */
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

/** What reading rows of a vault may fail with. */
export const VAULT_FAILURES = [
  'store_unavailable',
  'deadline_exceeded',
  'client_gone',
  'draining',
] as const satisfies readonly FailureName[]

/** What sealing adds. */
export const SEALING_FAILURES = [
  'data_key_unavailable',
  'busy',
  'vault_full',
  'internal',
] as const satisfies readonly FailureName[]

/** An intern as the examples name it. */
export const EXAMPLE_INTERN = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'
