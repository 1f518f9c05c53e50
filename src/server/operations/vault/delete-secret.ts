import { ok } from '../../../schemas/failures.ts'
import { InternSecretParams, SecretParams } from '../../../schemas/vault/vault.ts'
import { changedBy, defineOperation } from '../define.ts'
import {
  EXAMPLE_INTERN,
  INTERN_ACCESS,
  internScope,
  VAULT_FAILURES,
  VAULT_STATUSES,
  WORKSPACE_ACCESS,
  workspaceScope,
} from './vault-scope.ts'

/** Deletes a secret of the workspace; its copies remain. Source: B2.4. */
export const deleteSecret = defineOperation({
  id: 'vault.delete_secret',
  method: 'delete',
  path: '/vault/secrets/{name}',
  tag: 'vault',
  summary: 'Delete a workspace secret',
  access: { ...WORKSPACE_ACCESS, keyScopes: ['vault:write'], writesVault: true },
  input: { params: SecretParams },
  success: { status: 204, body: null },
  statuses: VAULT_STATUSES,
  failures: ['secret_unknown', 'vault_unknown', ...VAULT_FAILURES],
  example: { params: { name: 'github_token' } },
  async run(call, { vaults }) {
    const removed = await vaults.remove(workspaceScope(call), call.params.name, changedBy(call))
    return removed.ok ? ok({ kind: 'nothing' }) : removed
  },
})

/** Deletes a secret of one intern; the original of a copy remains. Source: B2.4. */
export const deleteInternSecret = defineOperation({
  id: 'vault.delete_intern_secret',
  method: 'delete',
  path: '/vault/interns/{intern_id}/secrets/{name}',
  tag: 'vault',
  summary: "Delete an intern's secret",
  access: { ...INTERN_ACCESS, keyScopes: ['vault:write'], writesVault: true },
  input: { params: InternSecretParams },
  success: { status: 204, body: null },
  statuses: VAULT_STATUSES,
  failures: ['secret_unknown', 'intern_unknown', ...VAULT_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN, name: 'github_token' } },
  async run(call, { vaults }) {
    const removed = await vaults.remove(internScope(call), call.params.name, changedBy(call))
    return removed.ok ? ok({ kind: 'nothing' }) : removed
  },
})
