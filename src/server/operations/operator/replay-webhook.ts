import { AdminWebhookParams, ReplayedAnswer } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { EXAMPLE_DELIVERY } from './admin-answers.ts'

/** Delivers a webhook again, whatever its state, with all attempts available again. Source: an extension of Sluice; C4, C17. */
export const replayWebhook = defineOperation({
  id: 'admin.replay_webhook',
  method: 'post',
  path: '/admin/webhooks/{id}/replay',
  tag: 'admin',
  summary: 'Replay a webhook delivery',
  description: 'Sends the same id and body again, also to an address that answered 410.',
  input: { params: AdminWebhookParams },
  success: { status: 200, body: ReplayedAnswer },
  statuses: [403, 404, 409, 500],
  failures: ['delivery_unknown', 'delivery_waiting', 'store_unavailable'],
  example: { params: { id: EXAMPLE_DELIVERY } },
  async run(call, { admin }) {
    const replayed = await admin.replay(call.key.organizationId, call.params.id, actorOf(call))
    return replayed.ok ? ok({ kind: 'json', value: { data: { replayed: 1 } } }) : replayed
  },
})
