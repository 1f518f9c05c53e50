import { ok } from '../../../schemas/failures.ts'
import { KeyListAnswer, ListKeysQuery } from '../../../schemas/keys/keys.ts'
import { KEYS_PAGE } from '../../../schemas/keys/key-limits.ts'
import { defineOperation } from '../define.ts'
import { KEY_FAILURES, keyAnswer } from './key-answers.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the organization's keys, newest first. Source: B2.10. */
export const listKeys = defineOperation({
  id: 'keys.list',
  method: 'get',
  path: '/keys',
  tag: 'keys',
  summary: 'List API keys',
  description: `Lists the keys of one workspace or of all, newest first, ${KEYS_PAGE} per page. The keys themselves are never listed.`,
  input: { query: ListKeysQuery },
  success: { status: 200, body: KeyListAnswer, isList: true },
  statuses: [400, 429, 500],
  failures: ['query_invalid', 'workspace_unknown', ...KEY_FAILURES],
  example: { query: { include_disabled: true, offset: 0 } },
  async run(call, ports) {
    const { workspace_id: workspace, include_disabled: includesDisabled, offset } = call.query
    const keys = await ports.apiKeys.list({
      organizationId: call.key.organizationId,
      workspace: workspace ?? null,
      includesDisabled: includesDisabled ?? false,
      offset: offset ?? 0,
    })
    if (!keys.ok) return keys
    const { data, isCut } = cutPage(keys.value, keyAnswer)
    return ok({ kind: 'json', value: { data, has_more: isCut || data.length === KEYS_PAGE } })
  },
})
