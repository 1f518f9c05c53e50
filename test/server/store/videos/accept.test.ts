import t from 'tap'
import { newVideoId } from '../../../../src/server/store/base/ids.ts'
import { must } from '../../../support/must.ts'
import {
  accepted,
  nameOf,
  openVideoStand,
  VIDEO_REQUEST,
  videoInput,
} from '../../../support/videos/video-jobs.ts'

t.test('an accepted job has a row that is due, with its whole request', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  const references = [{ kind: 'image' as const, url: 'https://a.test/ü' }]
  const request = { ...VIDEO_REQUEST, prompt: 'nul \0, half \ud800, line\nbreak', references }
  const input = videoInput(owners, {
    request,
    sessionId: 's\0',
    callbackUrl: 'https://b.test/',
    costNano: Number.MAX_SAFE_INTEGER,
  })
  const view = must(await jobs.accept(input))
  t.match(view, {
    id: /^vid_[0-9a-f]{32}$/,
    workspaceId: owners.workspaceId,
    status: 'pending',
    generationId: null,
    usage: null,
  })
  const [row] = await store.sql`
    SELECT *, lease_until <= clock_timestamp() AS is_due, round(extract(epoch FROM expires_at - created_at))::int AS lasts
    FROM video_jobs WHERE id = ${view.id}`
  t.match(row, {
    state: 'accepted',
    attempt: 0,
    is_due: true,
    lasts: 86_400,
    organization_id: owners.organizationId,
    key_hash: owners.keyHash,
    key_account_id: owners.keyAccountId,
    request_id: input.requestId,
    session_id: 's\uFFFD',
    callback_url: 'https://b.test/',
    seconds: 5,
    cost_nano: String(Number.MAX_SAFE_INTEGER),
    provider: 'acme',
    endpoint: 'acme/v-1',
    upstream_model: 'v-1',
    own_secret: null,
    turn_id: null,
  })
  t.same({ ...JSON.parse(String(row?.['request'])), ...JSON.parse(String(row?.['attached'])) }, request)
})

t.test('accepting a job wakes runners and stores the view for pollers', async (t) => {
  const { jobs, views, owners } = await openVideoStand(t)
  const id = await accepted(jobs, videoInput(owners))
  t.same(views.woken, [{ kind: 'jobs', provider: 'acme' }])
  t.equal(views.kept.get(id)?.status, 'pending')
})

t.test('jobs that arrive together are each accepted once', async (t) => {
  const { jobs, count, owners } = await openVideoStand(t)
  const ids = await Promise.all(Array.from({ length: 200 }, () => accepted(jobs, videoInput(owners))))
  t.equal(new Set(ids).size, 200)
  t.equal(await count(), 200)
})

t.test('a job without a callback URL gets the callback URL of its workspace', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  await store.sql`UPDATE workspaces SET default_callback_url = 'https://w.test/' WHERE id = ${owners.workspaceId}`
  const own = await accepted(jobs, videoInput(owners, { callbackUrl: 'https://own.test/' }))
  const none = await accepted(jobs, videoInput(owners))
  const rows = await store.sql`SELECT id, callback_url FROM video_jobs ORDER BY id`
  t.same(
    new Map(rows.map((row) => [row['id'], row['callback_url']])),
    new Map([
      [own, 'https://own.test/'],
      [none, 'https://w.test/'],
    ]),
  )
})

t.test('a deleted workspace accepts nothing, and spoils no other job of the batch', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  const [gone] = await store.sql<{ id: string }[]>`
    INSERT INTO workspaces (id, organization_id, name, slug, deleted_at) VALUES (gen_random_uuid(), ${owners.organizationId}, 'g', 'g', now()) RETURNING id`
  const dead = videoInput(owners, { workspaceId: gone?.id ?? '' })
  const outcomes = await Promise.all(
    [dead, videoInput(owners), dead, videoInput(owners)].map((input) => jobs.accept(input)),
  )
  t.same(outcomes.map(nameOf), ['workspace_unknown', 'ok', 'workspace_unknown', 'ok'])
})

t.test('a call waits for a workspace that is being deleted, and is then refused', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  let outcome: Promise<string> | null = null
  await store.sql.begin(async (tx) => {
    await tx`UPDATE workspaces SET deleted_at = clock_timestamp() WHERE id = ${owners.workspaceId}`
    outcome = jobs.accept(videoInput(owners)).then(nameOf)
    await tx`SELECT pg_sleep(0.2)`
  })
  t.equal(await outcome, 'workspace_unknown')
})

t.test('a job that the store cannot save fails alone', async (t) => {
  const { jobs, count, owners } = await openVideoStand(t)
  const broken = videoInput(owners, { target: { ...videoInput(owners).target, provider: 'a\0b' } })
  const settled = await Promise.allSettled(
    [videoInput(owners), videoInput(owners), broken, videoInput(owners)].map((input) => jobs.accept(input)),
  )
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.equal(await count(), 3)
})

t.test('without the store no job is accepted, and the refusal has Retry-After', async (t) => {
  const { open, store, owners } = await openVideoStand(t)
  const jobs = open({ store })
  await store.close()
  t.match(await jobs.accept(videoInput(owners)), {
    ok: false,
    failure: { name: 'store_unavailable', retryAfterS: 1 },
  })
})

t.test('only its workspace reads a job, from its view or, without a view, from its row', async (t) => {
  const { jobs, views, owners } = await openVideoStand(t)
  const id = await accepted(jobs, videoInput(owners))
  t.equal(must(await jobs.get(owners.workspaceId, id)).status, 'pending')
  views.kept.clear()
  t.equal(must(await jobs.get(owners.workspaceId, id)).status, 'pending')
  t.ok(views.kept.has(id))
  const other = '00000000-0000-7000-8000-000000000000'
  t.equal(nameOf(await jobs.get(other, id)), 'video_unknown')
  views.kept.clear()
  t.equal(nameOf(await jobs.get(other, id)), 'video_unknown')
  for (const unknown of [newVideoId(), 'vid_', 'x\0', `${id}0`])
    t.equal(nameOf(await jobs.get(owners.workspaceId, unknown)), 'video_unknown')
})
