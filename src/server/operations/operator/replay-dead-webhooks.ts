import { ReplayedDeadAnswer } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { readableCount } from '../../../schemas/values/readable.ts'

/** Dead letters that one call replays. Decision. */
export const ADMIN_REPLAYED_MAX = 10_000

/** Delivers dead letters again. Source: an extension of Sluice; C4, C17. */
export const replayDeadWebhooks = defineOperation({
  id: 'admin.replay_dead_webhooks',
  method: 'post',
  path: '/admin/webhooks/replay',
  tag: 'admin',
  summary: 'Replay all dead letters',
  description: `Replays the dead letters of the organization or of one workspace, at most ${readableCount(ADMIN_REPLAYED_MAX)} per call.`,
  input: { body: 'replay_dead' },
  success: { status: 200, body: ReplayedDeadAnswer },
  statuses: [400, 403, 404, 500],
  failures: ['workspace_unknown', 'store_unavailable'],
  example: { body: {} },
  async run(call, { admin }) {
    const request = {
      organizationId: call.key.organizationId,
      workspace: call.body.workspace_id ?? null,
      countMax: ADMIN_REPLAYED_MAX,
    }
    const done = await admin.replayDead(request, actorOf(call))
    return done.ok
      ? ok({ kind: 'json', value: { data: { replayed: done.value.replayed, has_more: done.value.hasMore } } })
      : done
  },
})
