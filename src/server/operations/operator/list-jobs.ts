import { AdminJobListAnswer, ListAdminJobsQuery } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { jobWire, pageOf } from './admin-answers.ts'
import { readableCount } from '../../../schemas/values/readable.ts'
import { ADMIN_LISTED_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the video jobs of the organization, newest first. Source: an extension of Sluice; C4. */
export const listAdminJobs = defineOperation({
  id: 'admin.list_jobs',
  method: 'get',
  path: '/admin/jobs',
  tag: 'admin',
  summary: 'List video jobs of all workspaces',
  description:
    `Newest first, without prompts. The answer covers at most the ${readableCount(ADMIN_LISTED_MAX)} newest jobs with the given status. ` +
    'Without a status, or with `completed`, the answer covers the newest jobs of the given workspace or, without a workspace, of the given provider. ' +
    'Other filters apply to these jobs.',
  input: { query: ListAdminJobsQuery },
  success: { status: 200, body: AdminJobListAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { status: 'failed', limit: 20 } },
  async run({ key, query }, { admin }) {
    const { workspace_id: workspace, status, provider } = query
    const page = await admin.jobs({
      organizationId: key.organizationId,
      ...pageOf(query),
      ...(workspace !== undefined && { workspace }),
      ...(status !== undefined && { status }),
      ...(provider !== undefined && { provider }),
    })
    return page.ok ? ok({ kind: 'json', value: offsetPage(page.value, pageOf(query), jobWire) }) : page
  },
})
