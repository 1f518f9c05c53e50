import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { TestWebhookAnswer } from '../../../schemas/webhooks/operator-webhooks.ts'
import { WEBHOOK_TEST_DEADLINE_MS } from '../../../schemas/webhooks/webhook-limits.ts'
import type { WebhookTestResult } from '../../ports/webhooks/operator-webhooks.ts'
import { actorOf, defineOperation, ownWorkspaceOf, type Success } from '../define.ts'

/** Sends a test event to a receiver and returns the result. Source: an extension of Sluice; C4, C17. */
export const testWebhook = defineOperation({
  id: 'admin.test_webhook',
  method: 'post',
  path: '/admin/webhooks/test',
  tag: 'admin',
  summary: 'Send a test webhook',
  description:
    'Sends one attempt of the event `webhook.test`, signed with the secret of the workspace like any delivery. The test is ' +
    'not repeated or listed. A refusal by the receiver is reported in a 200 answer. Addresses that answered 410 ' +
    'to a delivery of the workspace are skipped until a delivery is replayed. Each sent test is recorded in the ' +
    'audit log with the outcome `released`.',
  deadlineMs: WEBHOOK_TEST_DEADLINE_MS,
  outlivesClient: false,
  input: { body: 'test_webhook' },
  success: { status: 200, body: TestWebhookAnswer },
  statuses: [400, 403, 404, 429, 500],
  failures: [
    'workspace_unknown',
    'callback_url_invalid',
    'data_key_unavailable',
    'busy',
    'store_unavailable',
  ],
  example: { body: { url: 'https://hooks.acme.example/sluice' } },
  async run(call, { workspaces, egress, operatorWebhooks }) {
    const { body, key } = call
    const { organizationId } = key
    const reference = body.workspace_id ?? ownWorkspaceOf(key)
    const found = await workspaces.get({ organizationId, reference })
    if (!found.ok) return found
    const { id: workspaceId, defaultCallbackUrl } = found.value
    const url = body.url ?? defaultCallbackUrl
    if (url === null) return noReceiver()
    const checked = await checkCallbackUrl(url, { path: '/url', gate: egress, holder: workspaceId })
    if (!checked.ok) return checked
    const tested = await operatorWebhooks.test({ organizationId, workspaceId, url }, actorOf(call))
    return tested.ok ? ok(answerOf(tested.value)) : tested
  },
})

function noReceiver(): Outcome<never> {
  const issue = {
    path: '/url',
    message: 'is missing, and the workspace has no default_callback_url',
    expected: 'the address of a receiver',
  }
  return fail('callback_url_invalid', { metadata: { issues: [issue] } })
}

function answerOf({ eventId, host, status, reason, durationMs }: WebhookTestResult): Success {
  const data = {
    event_id: eventId,
    host,
    delivered: reason === null,
    status,
    reason,
    duration_ms: durationMs,
  }
  return { kind: 'json', value: { data } }
}
