import { AdminStorageAnswer, ListAdminStorageQuery } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { pageOf, storageWire } from './admin-answers.ts'

/** Lists the stored bytes and the quota of each workspace, and the result of the last sweep. Source: our extension; C4, C10. */
export const getAdminStorage = defineOperation({
  id: 'admin.get_storage',
  method: 'get',
  path: '/admin/storage',
  tag: 'admin',
  summary: 'Get storage by workspace',
  description:
    'Counts up to 100,000 files per workspace. These reads and request log searches run one at a time per organization; ' +
    'if too many are waiting, the call returns 503 `busy` with `Retry-After`.',
  input: { query: ListAdminStorageQuery },
  success: { status: 200, body: AdminStorageAnswer },
  statuses: [400, 403, 500, 503],
  failures: ['query_invalid', 'store_unavailable', 'busy'],
  example: { query: { limit: 20 } },
  async run({ key, query, signal }, { admin }) {
    const { organizationId } = key
    const workspace = query.workspace_id ?? null
    const found = await admin.storage({ organizationId, page: pageOf(query), workspace, signal })
    if (!found.ok) return found
    const { rows, totalCount, sweep } = found.value
    const lastSweep = sweep === null ? null : { ended_at: sweep.endedAt.toISOString(), report: sweep.report }
    return ok({
      kind: 'json',
      value: { data: { workspaces: rows.map(storageWire), sweep: lastSweep }, total_count: totalCount },
    })
  },
})
