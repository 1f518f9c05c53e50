import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openAdminJobs } from '../../../support/operator/admin-jobs.ts'
import { ADMIN_PAGE_MAX } from '../../../../src/schemas/operator/admin.ts'
import { ADMIN_LISTED_MAX, ADMIN_PAGE_DEFAULT } from '../../../../src/schemas/operator/admin-port-limits.ts'

t.test('admin.list_jobs 200: jobs of all workspaces, newest first, each with its result', async (t) => {
  const { add, claim, complete, fail, call, workspace, other } = await openAdminJobs(t)
  const made = await add({ costNano: 2_500_000, callbackUrl: 'https://hooks.example/in?token=t' })
  await complete(await claim('acme'))
  const failed = await add({ provider: 'best', workspaceId: other.id })
  await fail(await claim('best'), 'provider_failed: moderated')
  const open = await add({ provider: 'calm' })
  const { status, body } = await call('GET', '/admin/jobs')
  t.equal(status, 200)
  const NOTHING = { error: null, delivery: null, ended_at: null, cost_usd: null }
  t.match(body, {
    data: [
      {
        ...NOTHING,
        id: open,
        provider: 'calm',
        status: 'pending',
        submissions: 0,
        polls: 0,
        workspace_id: workspace.id,
        workspace_slug: 'default',
      },
      {
        id: failed,
        status: 'failed',
        error: { code: 'provider_failed', message: 'moderated' },
        cost_usd: null,
        workspace_slug: 'other',
      },
      {
        id: made,
        model: 'acme/clip',
        status: 'completed',
        error: null,
        cost_usd: 0.0025,
        delivery: { id: /^[0-9a-f-]{36}$/, state: 'waiting' },
      },
    ],
    total_count: 3,
  })
  const [, , ended] = body['data'] as { ended_at: string; updated_at: string }[]
  t.equal(ended?.updated_at, ended?.ended_at)
})

t.test('filters jobs by workspace, status and provider, separately and combined, in pages', async (t) => {
  const { add, claim, submit, complete, list, other } = await openAdminJobs(t)
  const [a, b, c, d] = [
    await add(),
    await add({ provider: 'best' }),
    await add({ workspaceId: other.id, provider: 'calm' }),
    await add({ provider: 'best' }),
  ]
  await complete(await claim('acme'))
  await submit(await claim('calm'), 'up-1')
  const found = async (query: string): Promise<readonly string[]> => (await list(query)).ids
  t.same(await list(), { ids: [d, c, b, a], count: 4 })
  for (const ref of [other.id, other.id.toUpperCase(), 'other'])
    t.same(await found(`workspace_id=${ref}`), [c], ref)
  t.same(await found('status=pending'), [d, b])
  t.same(await found('status=in_progress'), [c])
  t.same(await found('status=completed'), [a])
  t.same(await found('status=expired'), [])
  t.same(await found('provider=best'), [d, b])
  t.same(await found('provider=acme'), [a])
  t.same(await found('provider=nobody'), [])
  t.same(await found('provider=acme&status=completed'), [a])
  t.same(await found('provider=acme&status=pending'), [])
  t.same(await found('workspace_id=default&status=pending'), [d, b])
  t.same(await found('workspace_id=default&provider=acme'), [a])
  t.same(await found('workspace_id=other&provider=acme&status=completed'), [])
  t.same(await list('limit=2&offset=1'), { ids: [c, b], count: 4 })
  t.same(await list('offset=4'), { ids: [], count: 4 })
})

t.test('admin.list_jobs 400: invalid filters and pages', async (t) => {
  const { call, list } = await openAdminJobs(t)
  t.same(await list(`limit=${ADMIN_PAGE_MAX}&offset=${ADMIN_LISTED_MAX}`), { ids: [], count: 0 })
  t.ok(ADMIN_PAGE_DEFAULT < ADMIN_PAGE_MAX)
  const pages = ['limit=0', `limit=${ADMIN_PAGE_MAX + 1}`, 'offset=-1', `offset=${ADMIN_LISTED_MAX + 1}`]
  for (const query of [...pages, 'status=running', 'provider=', 'provider=%00']) {
    t.match(await call('GET', `/admin/jobs?${query}`), { status: 400, type: 'query_invalid' }, query)
  }
})

t.test('admin.list_jobs 404: an unknown workspace, and one of another organization', async (t) => {
  const { call, foreignKey, workspace } = await openAdminJobs(t)
  t.match(await call('GET', `/admin/jobs?workspace_id=${randomUUID()}`), {
    status: 404,
    type: 'workspace_unknown',
  })
  t.match(await call('GET', `/admin/jobs?workspace_id=${workspace.id}`, { key: foreignKey }), {
    status: 404,
    type: 'workspace_unknown',
  })
})

t.test('another organization gets no job; jobs of a deleted workspace are found by its UUID', async (t) => {
  const { add, call, foreignKey, list, other } = await openAdminJobs(t)
  const id = await add({ workspaceId: other.id })
  t.match(await call('GET', '/admin/jobs', { key: foreignKey }), {
    status: 200,
    body: { data: [], total_count: 0 },
  })
  t.match(await call('GET', `/admin/jobs/${id}`, { key: foreignKey }), { status: 404, type: 'video_unknown' })
  t.equal((await call('DELETE', `/workspaces/${other.id}`)).status, 200)
  t.same(await list(`workspace_id=${other.id}`), { ids: [id], count: 1 })
  t.match((await call('GET', `/admin/jobs/${id}`)).body, {
    data: { id, workspace_slug: 'other', lease: { until: null } },
  })
})

t.test(
  'admin.get_job 200: returns the steps, the runner and the reservation of an open job, and nothing of its request',
  async (t) => {
    const { add, claim, submit, call } = await openAdminJobs(t)
    const id = await add({ costNano: 7_000, callbackUrl: 'https://hooks.example/in?token=t' })
    await submit(await claim('acme'), 'up-1')
    const { status, body } = await call('GET', `/admin/jobs/${id}`)
    t.equal(status, 200)
    t.match(body, {
      data: {
        id,
        status: 'in_progress',
        submissions: 1,
        upstream_id: 'up-1',
        upstream_model: 'clip',
        endpoint: 'acme/clip',
        is_byok: false,
        seconds: 4,
        held_usd: 0.000007,
        cost_usd: null,
        request_id: `req_${id}`,
        lease: { attempt: 1, until: String },
        callback_host: 'hooks.example',
        clips: [],
        clips_made: 0,
        clips_expire_at: null,
        deliveries: [],
      },
    })
    const { steps, updated_at: updatedAt } = body['data'] as {
      steps: { step: string; at: string }[]
      updated_at: string
    }
    t.same(
      steps.map(({ step }) => step),
      ['accepted', 'submitted', 'running'],
    )
    t.same(
      steps.map(({ at }) => at),
      steps.map(({ at }) => at).sort(),
    )
    t.equal(updatedAt, steps.at(-1)?.at)
    t.notMatch(JSON.stringify(body), /heron|token=t/)
  },
)

t.test('admin.get_job 200: the clips, the end and the deliveries of an ended job', async (t) => {
  const { add, claim, submit, complete, call, workspace } = await openAdminJobs(t)
  const id = await add({ callbackUrl: 'https://hooks.example/in?token=t' })
  await complete(await submit(await claim('acme'), 'up-1'))
  const { body } = await call('GET', `/admin/jobs/${id}`)
  t.match(body, {
    data: {
      id,
      status: 'completed',
      held_usd: null,
      lease: null,
      clips: [{ index: 0, bytes: 9, sha256: 'ab' }],
      clips_made: 1,
      clips_expire_at: String,
      deliveries: [
        {
          workspace_id: workspace.id,
          job_id: id,
          host: 'hooks.example',
          state: 'waiting',
          attempts: 0,
          due_at: String,
          ended_at: null,
        },
      ],
    },
  })
  t.equal((body['data'] as { steps: { step: string }[] }).steps.at(-1)?.step, 'ended')
  t.notMatch(JSON.stringify(body), /token=t/)
})

t.test('admin.get_job 404: unknown ids', async (t) => {
  const { call } = await openAdminJobs(t)
  for (const id of [`vid_${'0'.repeat(32)}`, 'x', randomUUID(), 'vid_%00']) {
    t.match(await call('GET', `/admin/jobs/${id}`), { status: 404, type: 'video_unknown' }, id)
  }
})
