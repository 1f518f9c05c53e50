import { ok } from '../../../schemas/failures.ts'
import { WORKSPACES_PAGE_DEFAULT } from '../../../schemas/workspaces/workspace-limits.ts'
import { ListProviderKeysQuery, ProviderKeyListAnswer } from '../../../schemas/workspaces/byok.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { keysAmong, keyTakers, providerKeyAnswer } from './provider-key-view.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists a workspace's own keys for providers. Source: B2.11. */
export const listProviderKeys = defineOperation({
  id: 'byok.list',
  method: 'get',
  path: '/byok',
  tag: 'byok',
  summary: 'List provider keys',
  description:
    'Sorted by provider: the vault secrets that calls and files use as provider keys, without their values.',
  input: { query: ListProviderKeysQuery },
  success: { status: 200, body: ProviderKeyListAnswer, isList: true },
  statuses: [400, 403, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { provider: 'openai' } },
  async run({ key, query }, ports) {
    const { workspace_id: reference = ownWorkspaceOf(key), provider, offset = 0 } = query
    const workspace = await ports.workspaces.get({ organizationId: key.organizationId, reference })
    if (!workspace.ok) return workspace
    const takers = keyTakers(ports.models).filter(({ slug }) => provider === undefined || slug === provider)
    const keys = await keysAmong(workspace.value, takers, ports)
    if (!keys.ok) return keys
    const rows = keys.value.slice(offset, offset + (query.limit ?? WORKSPACES_PAGE_DEFAULT))
    const { id } = workspace.value
    const value = offsetPage({ rows, totalCount: keys.value.length }, { offset }, ([taker, secret]) =>
      providerKeyAnswer(id, taker, secret),
    )
    return ok({ kind: 'json', value })
  },
})
