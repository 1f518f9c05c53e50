import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { DeliveryResult } from '../../../../src/server/ports/webhooks/webhooks.ts'
import { openDeliveries } from '../../../../src/server/store/webhooks/deliveries.ts'
import { listedBy, type ListedIds } from '../../../support/operator/admin-jobs.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { present } from '../../../support/must.ts'
import { delivery, outboxed, input } from '../../../support/webhooks/webhooks.ts'
import { ADMIN_REPLAYED_MAX } from '../../../../src/server/operations/operator/replay-dead-webhooks.ts'

const FAILED: DeliveryResult = { kind: 'failed', status: 500, reason: 'status', retryAfterMs: null }

interface Stand extends InternsFront {
  /** One that ended so, or waits. @returns its id */
  put(workspaceId: string, result?: DeliveryResult): Promise<string>
  list(query?: string): Promise<ListedIds>
}

async function stand(t: Test): Promise<Stand> {
  const front = await openInternsFront(t)
  const { store } = front
  const deliveries = openDeliveries({ store })
  return {
    ...front,
    async put(workspaceId, result) {
      const reported = delivery(workspaceId)
      await outboxed(store, [reported])
      const [row] = await store.sql<
        { id: string }[]
      >`SELECT id FROM webhook_deliveries WHERE idempotency_key = ${reported.idempotencyKey}`
      const { id } = present(row)
      if (result === undefined) return id
      const claims = await deliveries.claim(input())
      for (const claim of claims.filter((one) => one.id === id)) await deliveries.book(claim, result, null)
      await deliveries.release(
        claims.filter((one) => one.id !== id),
        -1,
      )
      return id
    },
    list: (query = '') => listedBy(front, `/admin/webhooks?${query}`),
  }
}

t.test(
  'admin.list_webhooks 200: returns deliveries of all workspaces, newest first, with only the host of each address',
  async (t) => {
    const { put, call, workspace, other } = await stand(t)
    const dead = await put(workspace.id, FAILED)
    const made = await put(other.id, { kind: 'delivered', status: 204 })
    const waiting = await put(workspace.id)
    const { status, body } = await call('GET', '/admin/webhooks')
    t.equal(status, 200)
    t.match(body, {
      data: [
        {
          id: waiting,
          workspace_slug: 'default',
          host: 'hooks.example',
          state: 'waiting',
          attempts: 0,
          last_status: null,
          last_reason: null,
          due_at: String,
          ended_at: null,
        },
        {
          id: made,
          workspace_id: other.id,
          workspace_slug: 'other',
          state: 'delivered',
          attempts: 1,
          last_status: 204,
          due_at: null,
          ended_at: String,
        },
        {
          id: dead,
          state: 'dead',
          attempts: 1,
          last_status: 500,
          last_reason: 'status',
          due_at: null,
          ended_at: String,
        },
      ],
      total_count: 3,
    })
    t.notMatch(JSON.stringify(body), /token/)
  },
)

t.test('filters deliveries by workspace and state, separately and combined, in pages', async (t) => {
  const { put, list, workspace, other } = await stand(t)
  const [a, b, c] = [await put(workspace.id, FAILED), await put(other.id, FAILED), await put(workspace.id)]
  t.same(await list(), { ids: [c, b, a], count: 3 })
  t.same(await list('state=dead'), { ids: [b, a], count: 2 })
  t.same(await list('state=waiting'), { ids: [c], count: 1 })
  t.same(await list('state=delivered'), { ids: [], count: 0 })
  t.same(await list('workspace_id=other'), { ids: [b], count: 1 })
  t.same(await list('workspace_id=default&state=dead'), { ids: [a], count: 1 })
  t.same(await list('workspace_id=default&state=waiting'), { ids: [c], count: 1 })
  t.same(await list('limit=1&offset=1'), { ids: [b], count: 3 })
})

t.test(
  'admin.list_webhooks 400, 404: invalid filters; unknown workspaces and those of other organizations',
  async (t) => {
    const { put, call, workspace, foreignKey } = await stand(t)
    await put(workspace.id)
    for (const query of ['state=failed', 'limit=0', 'offset=-1']) {
      t.match(await call('GET', `/admin/webhooks?${query}`), { status: 400, type: 'query_invalid' }, query)
    }
    t.match(await call('GET', `/admin/webhooks?workspace_id=${randomUUID()}`), {
      status: 404,
      type: 'workspace_unknown',
    })
    t.match(await call('GET', `/admin/webhooks?workspace_id=${workspace.id}`, { key: foreignKey }), {
      status: 404,
      type: 'workspace_unknown',
    })
    t.match(await call('GET', '/admin/webhooks', { key: foreignKey }), {
      status: 200,
      body: { data: [], total_count: 0 },
    })
  },
)

t.test(
  'admin.replay_webhook 200: makes a delivery due with all attempts, wakes runners, and is audited',
  async (t) => {
    const { put, call, store, woken, workspace, organizationId } = await stand(t)
    const id = await put(workspace.id, FAILED)
    t.match(
      await call('POST', `/admin/webhooks/${id}/replay`, { headers: { 'x-request-id': 'once-more' } }),
      { status: 200, body: { data: { replayed: 1 } } },
    )
    t.same(woken, [{ kind: 'webhooks' }])
    t.match(await openDeliveries({ store }).claim(input()), [{ id, tries: 0 }])
    t.match(await auditOf(store), [
      {
        organization_id: organizationId,
        workspace_id: workspace.id,
        operation: 'admin.replay_webhook',
        request_id: 'once-more',
        actor: { kind: 'key' },
        object_kind: 'webhook_delivery',
        object_id: id,
        before: { state: 'dead', tries: 1 },
        after: { state: 'waiting', tries: 0 },
      },
    ])
  },
)

t.test(
  'admin.replay_webhook 404, 409: an unknown or foreign delivery, one of a deleted workspace, and one that still waits',
  async (t) => {
    const { put, call, store, woken, workspace, other, foreignKey } = await stand(t)
    const [dead, waiting, gone] = [
      await put(workspace.id, FAILED),
      await put(workspace.id),
      await put(other.id, FAILED),
    ]
    await store.sql`UPDATE workspaces SET deleted_at = clock_timestamp() WHERE id = ${other.id}`
    const replay = (id: string, key?: string) =>
      call('POST', `/admin/webhooks/${id}/replay`, key === undefined ? {} : { key })
    t.match(await replay(waiting), { status: 409, type: 'delivery_waiting' })
    for (const id of [randomUUID(), 'x', 'dead%00'])
      t.match(await replay(id), { status: 404, type: 'delivery_unknown' }, id)
    t.match(await replay(gone), { status: 404, type: 'delivery_unknown' })
    for (const id of [dead, waiting])
      t.match(await replay(id, foreignKey), { status: 404, type: 'delivery_unknown' })
    t.same([woken, await auditOf(store)], [[], []])
    t.match(await store.sql`SELECT state FROM webhook_deliveries WHERE id = ${dead}`, [{ state: 'dead' }])
  },
)

t.test(
  'admin.replay_dead_webhooks 200: replays all dead letters of a workspace or of the organization, and no others',
  async (t) => {
    const { put, call, list, store, workspace, other, foreignKey } = await stand(t)
    const [a, b] = [await put(workspace.id, FAILED), await put(other.id, FAILED)]
    await put(workspace.id, { kind: 'delivered', status: 200 })
    const replay = async (body: object, key?: string): Promise<unknown> =>
      (await call('POST', '/admin/webhooks/replay', { body, ...(key !== undefined && { key }) })).body['data']
    t.same(await replay({}, foreignKey), { replayed: 0, has_more: false })
    t.same(await replay({ workspace_id: 'other' }), { replayed: 1, has_more: false })
    t.same(await list('state=dead'), { ids: [a], count: 1 })
    t.same(await replay({}), { replayed: 1, has_more: false })
    t.same((await list('state=waiting')).ids, [b, a])
    t.same(await replay({}), { replayed: 0, has_more: false })
    t.match(await auditOf(store), [
      { operation: 'admin.replay_dead_webhooks', object_id: b },
      { operation: 'admin.replay_dead_webhooks', object_id: a },
    ])
  },
)

t.test(
  'admin.replay_dead_webhooks 400, 404: an invalid workspace, an unknown one, and a foreign one',
  async (t) => {
    const { call, workspace, foreignKey } = await stand(t)
    const replay = (body: unknown, key?: string) =>
      call('POST', '/admin/webhooks/replay', { body, ...(key !== undefined && { key }) })
    for (const body of [{ workspace_id: 5 }, { workspace_id: '' }, []])
      t.match(await replay(body), { status: 400, type: 'body_invalid' })
    t.match(await replay({ workspace_id: 'nowhere' }), { status: 404, type: 'workspace_unknown' })
    t.match(await replay({ workspace_id: workspace.id }, foreignKey), {
      status: 404,
      type: 'workspace_unknown',
    })
  },
)

t.test('one call replays a bounded number of dead letters, and reports whether there are more', async (t) => {
  const { call, store, workspace } = await stand(t)
  await store.sql`
    INSERT INTO webhook_deliveries (id, workspace_id, job_id, idempotency_key, url, host, body, state, ended_at)
    SELECT gen_random_uuid(), ${workspace.id}, 'j', 'k' || n, 'https://hooks.example/', 'hooks.example', '{}', 'dead', now()
    FROM generate_series(1, ${ADMIN_REPLAYED_MAX + 1}::int) n`
  const replay = async (): Promise<unknown> =>
    (await call('POST', '/admin/webhooks/replay', { body: {} })).body['data']
  t.same(await replay(), { replayed: ADMIN_REPLAYED_MAX, has_more: true })
  t.same(await replay(), { replayed: 1, has_more: false })
})
