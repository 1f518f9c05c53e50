import { AdminWebhookListAnswer, ListAdminWebhooksQuery } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { deliveryWire, pageOf } from './admin-answers.ts'
import { readableCount } from '../../../schemas/values/readable.ts'
import { ADMIN_LISTED_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import { offsetPage } from '../../../schemas/lists/cut-page.ts'

/** Lists the webhooks of ended jobs, newest first. Source: an extension of Sluice; C4, C17. */
export const listAdminWebhooks = defineOperation({
  id: 'admin.list_webhooks',
  method: 'get',
  path: '/admin/webhooks',
  tag: 'admin',
  summary: 'List webhook deliveries of all workspaces',
  description:
    `Newest first, with only the host of each URL. The answer covers at most the ${readableCount(ADMIN_LISTED_MAX)} newest deliveries in the given state. ` +
    'Without a state, or with `delivered`, the answer covers the newest deliveries of the given workspace. All dead letters of a workspace are found.',
  input: { query: ListAdminWebhooksQuery },
  success: { status: 200, body: AdminWebhookListAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { state: 'dead', limit: 20 } },
  async run({ key, query }, { admin }) {
    const { workspace_id: workspace, state } = query
    const page = await admin.deliveries({
      organizationId: key.organizationId,
      ...pageOf(query),
      ...(workspace !== undefined && { workspace }),
      ...(state !== undefined && { state }),
    })
    return page.ok ? ok({ kind: 'json', value: offsetPage(page.value, pageOf(query), deliveryWire) }) : page
  },
})
