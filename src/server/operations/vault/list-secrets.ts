import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  EffectivePageAnswer,
  InternParams,
  secretAnswer,
  SecretPageAnswer,
  SecretPageQuery,
  WorkspaceSecretsQuery,
} from '../../../schemas/vault/vault.ts'
import type { SecretPage } from '../../ports/vault/vault.ts'
import { defineOperation, ownWorkspaceOf, type Success } from '../define.ts'
import { vaultOf } from './provider-key-view.ts'
import {
  EXAMPLE_INTERN,
  INTERN_ACCESS,
  internScope,
  pageOf,
  VAULT_FAILURES,
  VAULT_STATUSES,
  WORKSPACE_ACCESS,
  workspaceScope,
} from './vault-scope.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the workspace's secrets by name. Source: B2.4. */
export const listSecrets = defineOperation({
  id: 'vault.list_secrets',
  method: 'get',
  path: '/vault/secrets',
  tag: 'vault',
  summary: 'List workspace secrets',
  access: WORKSPACE_ACCESS,
  input: { query: SecretPageQuery },
  success: { status: 200, body: SecretPageAnswer, isList: true },
  statuses: VAULT_STATUSES,
  failures: ['query_invalid', 'vault_unknown', ...VAULT_FAILURES],
  example: { query: { limit: 20 } },
  run: async (call, { vaults }) => listReply(await vaults.list(workspaceScope(call), pageOf(call.query))),
})

/** Lists the secrets of a workspace for the operator. Source: an extension of Sluice; C4. */
export const listWorkspaceSecrets = defineOperation({
  id: 'admin.list_secrets',
  method: 'get',
  path: '/admin/secrets',
  tag: 'admin',
  summary: "List a workspace's secrets by name and host",
  description:
    'Sorted by name, with the hosts that each secret is released to. Values are never returned, and secrets of ' +
    'interns are not listed. Works even if interns are not enabled for the workspace.',
  input: { query: WorkspaceSecretsQuery },
  success: { status: 200, body: SecretPageAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { limit: 20 } },
  async run({ key, query }, { workspaces, vaults }) {
    const { workspace_id: reference = ownWorkspaceOf(key) } = query
    const workspace = await workspaces.get({ organizationId: key.organizationId, reference })
    if (!workspace.ok) return workspace
    return listReply(await vaults.list(vaultOf(workspace.value), pageOf(query)))
  },
})

/** Lists the secrets of one intern's own vault by name. Source: B2.4. */
export const listInternSecrets = defineOperation({
  id: 'vault.list_intern_secrets',
  method: 'get',
  path: '/vault/interns/{intern_id}/secrets',
  tag: 'vault',
  summary: "List an intern's secrets",
  access: INTERN_ACCESS,
  input: { params: InternParams, query: SecretPageQuery },
  success: { status: 200, body: SecretPageAnswer, isList: true },
  statuses: VAULT_STATUSES,
  failures: ['query_invalid', 'intern_unknown', ...VAULT_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN }, query: { limit: 20 } },
  run: async (call, { vaults }) => listReply(await vaults.list(internScope(call), pageOf(call.query))),
})

/** Lists the secrets that an intern can use, and the source of each. Source: B2.4. */
export const listEffectiveSecrets = defineOperation({
  id: 'vault.list_effective_secrets',
  method: 'get',
  path: '/vault/interns/{intern_id}/effective-secrets',
  tag: 'vault',
  summary: 'List the secrets that an intern can use',
  description:
    "One secret per name: from the intern's vault, else from its attached vault, else from the workspace's vault.",
  access: INTERN_ACCESS,
  input: { params: InternParams, query: SecretPageQuery },
  success: { status: 200, body: EffectivePageAnswer, isList: true },
  statuses: VAULT_STATUSES,
  failures: ['query_invalid', 'intern_unknown', 'vault_unknown', ...VAULT_FAILURES],
  example: { params: { intern_id: EXAMPLE_INTERN }, query: { limit: 20 } },
  async run(call, { vaults }) {
    const page = await vaults.effective(internScope(call), pageOf(call.query))
    if (!page.ok) return page
    const { data, isCut } = cutPage(page.value.secrets, (secret) => ({
      ...secretAnswer(secret),
      scope: secret.scope,
    }))
    return ok({ kind: 'json', value: { data, has_more: isCut || page.value.hasMore } })
  },
})

function listReply(page: Outcome<SecretPage>): Outcome<Success> {
  if (!page.ok) return page
  const { data, isCut } = cutPage(page.value.secrets, secretAnswer)
  return ok({ kind: 'json', value: { data, has_more: isCut || page.value.hasMore } })
}
