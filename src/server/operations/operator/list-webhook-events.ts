import { ok } from '../../../schemas/failures.ts'
import {
  ListWebhookEventsQuery,
  WebhookEventsAnswer,
  type WebhookEventShape,
} from '../../../schemas/webhooks/operator-webhooks.ts'
import { WEBHOOK_EVENTS_PAGE_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import type { EventPlace, SignedEvent } from '../../ports/webhooks/operator-webhooks.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'

/** Lists signed events, for receivers that cannot be reached by webhooks. Source: an extension of Sluice; C4, C17. */
export const listWebhookEvents = defineOperation({
  id: 'admin.list_webhook_events',
  method: 'get',
  path: '/admin/webhooks/events',
  tag: 'admin',
  summary: 'List signed webhook events',
  description:
    'Events for finished jobs in a workspace, including jobs without a callback URL. Each event has the headers and ' +
    'body that a webhook delivery would send. For receivers that webhooks cannot reach, such as a laptop: call every second with `next` from the last ' +
    'answer. The same event may appear again, with the same `id`.',
  input: { query: ListWebhookEventsQuery },
  success: { status: 200, body: WebhookEventsAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'data_key_unavailable', 'store_unavailable'],
  example: { query: { workspace_id: 'default', seconds: 60 } },
  async run({ key, query }, { workspaces, operatorWebhooks }) {
    const { organizationId } = key
    const reference = query.workspace_id ?? ownWorkspaceOf(key)
    const found = await workspaces.get({ organizationId, reference })
    if (!found.ok) return found
    const page = await operatorWebhooks.events({
      organizationId,
      workspaceId: found.value.id,
      after: query.after === undefined ? null : placeOf(query.after),
      backS: query.seconds ?? 0,
      limit: query.limit ?? WEBHOOK_EVENTS_PAGE_MAX,
    })
    if (!page.ok) return page
    const { events, hasMore, next } = page.value
    return ok({
      kind: 'json',
      value: { data: events.map(wireOf), has_more: hasMore, next: `${next.us}.${next.jobId}` },
    })
  },
})

/** @param text already checked by the schema of the query */
function placeOf(text: string): EventPlace {
  const dot = text.indexOf('.')
  return { us: Number(text.slice(0, dot)), jobId: text.slice(dot + 1) }
}

function wireOf({ id, jobId, endedAt, headers, body }: SignedEvent): WebhookEventShape {
  const named: Record<string, string> = {}
  for (let at = 0; at + 1 < headers.length; at += 2) named[headers[at] ?? ''] = headers[at + 1] ?? ''
  return { id, job_id: jobId, created_at: endedAt.toISOString(), headers: named, body }
}
