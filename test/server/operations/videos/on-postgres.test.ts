import t, { type Test } from 'tap'
import { VIDEO_JOBS_OPEN_MAX } from '../../../../src/schemas/videos/video-limits.ts'
import { openVideoCancel } from '../../../../src/server/store/videos/cancel.ts'
import { SILENT } from '../../../support/log.ts'
import { limitCredit } from '../../../support/money/money.ts'
import { openVideoStand, videoKey, type VideoStand } from '../../../support/videos/video-jobs.ts'
import { openVideosFront, type VideosFront } from '../../../support/videos/videos-front.ts'

const BODY = { model: 'acme/clip', prompt: 'A paper boat' }

interface Stand extends VideoStand {
  readonly front: VideosFront
}

/** The operations over jobs in Postgres; views are in memory. */
async function open(t: Test): Promise<Stand> {
  const stand = await openVideoStand(t)
  const { store, views, owners } = stand
  const cancel = openVideoCancel({
    store,
    views,
    context: { log: SILENT, origin: 'https://sluice.example', clipsKeptMs: 1_000 },
  })
  const { hash: _hash, kind: _kind, ...facts } = videoKey(owners)
  const front = await openVideosFront(t, {
    keys: facts,
    ports: { videos: stand.open({ store, cancel }), idempotency: stand.openAnswers() },
  })
  return { ...stand, front }
}

t.test('a job is submitted, polled, listed and cancelled', async (t) => {
  const { front } = await open(t)
  const submitted = await front.post(BODY)
  t.equal(submitted.status, 202)
  const id = submitted.body.id ?? ''
  t.match(id, /^vid_[0-9a-f]+$/)
  t.same((await front.call(`/videos/${id}`)).body, submitted.body)
  t.same((await front.call('/videos')).body, { data: [submitted.body], has_more: false, last_id: id })
  t.match(await front.call(`/videos/${id}/content`), { status: 400 })
  t.match(await front.call(`/videos/${id}`, { method: 'DELETE' }), {
    status: 200,
    body: { id, status: 'cancelled' },
  })
  t.match(await front.call(`/videos/${id}`, { method: 'DELETE' }), {
    status: 400,
    body: { error: { metadata: { error_type: 'video_ended' } } },
  })
  t.match((await front.call(`/videos/${id}`)).body, { status: 'cancelled' })
})

t.test(
  'two concurrent equal submissions under one Idempotency-Key make one row, and get the same answer',
  async (t) => {
    const { front, count } = await open(t)
    const send = (body: unknown) => front.post(body, { 'idempotency-key': 'once' })
    const [one, two] = await Promise.all([send(BODY), send(BODY)])
    t.same([one.status, two.status], [202, 202])
    t.same(one.body, two.body)
    t.equal(await count(), 1)
    t.match(await send({ ...BODY, prompt: 'Another' }), {
      status: 400,
      body: { error: { metadata: { error_type: 'idempotency_mismatch' } } },
    })
  },
)

t.test('invalid ids are unknown, whatever characters they contain', async (t) => {
  const { front } = await open(t)
  for (const id of ['vid_%00', 'x', `vid_${'0'.repeat(32)}`, '%f0%9f%8e%ac']) {
    t.equal((await front.call(`/videos/${id}`)).status, 404, id)
    t.equal((await front.call(`/videos/${id}`, { method: 'DELETE' })).status, 404, id)
    t.equal((await front.call(`/videos/${id}/content`)).status, 404, id)
    t.equal((await front.call(`/videos?after=${id}`)).status, 200, id)
  }
})

t.test('texts with characters that Postgres does not accept are stored unchanged', async (t) => {
  const { front, store } = await open(t)
  const prompt = 'a\u0000b \ud83d\ude00 "x" \\u0000'
  t.equal((await front.post({ ...BODY, prompt, user: '\u0000' })).status, 202)
  const [row] = await store.sql<{ request: string }[]>`SELECT request FROM video_jobs`
  t.equal((JSON.parse(row?.request ?? '{}') as { prompt: string }).prompt, prompt)
  t.match(await front.post({ ...BODY, session_id: 'a\u0000' }), {
    status: 400,
    body: { error: { metadata: { error_type: 'body_invalid' } } },
  })
})

t.test('a job without a callback address uses the default of the workspace', async (t) => {
  const { front, store, owners } = await open(t)
  await store.sql`UPDATE workspaces SET default_callback_url = 'https://hooks.example/all' WHERE id = ${owners.workspaceId}`
  await front.post(BODY)
  await front.post({ ...BODY, callback_url: 'https://hooks.example/one' })
  const rows = await store.sql<
    { callback_url: string }[]
  >`SELECT callback_url FROM video_jobs ORDER BY callback_url`
  t.same(
    rows.map((row) => row.callback_url),
    ['https://hooks.example/all', 'https://hooks.example/one'],
  )
})

t.test(
  'video.create 402: a job of unknown cost is refused under a limit, and its endpoint is named',
  async (t) => {
    const { front, store, owners } = await open(t)
    await limitCredit(store.sql, owners.organizationId, 1_000_000)
    const { status, body } = await front.post({ ...BODY, model: 'acme/any' })
    const metadata = { error_type: 'cost_unbounded', limit_source: 'credit' }
    t.match(
      { status, body },
      { status: 402, body: { error: { message: /no price for local\/any/, metadata } } },
    )
  },
)

t.test('video.create 429: the workspace has the maximum of open jobs', async (t) => {
  const { front, store, owners } = await open(t)
  await store.sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint, upstream_model,
      submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, expires_at)
    SELECT 'vid_' || lpad(n::text, 32, '0'), ${owners.organizationId}, ${owners.workspaceId}, 'k', 'k', 'r', 'm', 'p', 'e', 'u',
      gen_random_uuid(), 1, 0, true, gen_random_uuid(), current_date, now() + interval '1 day'
    FROM generate_series(1, ${VIDEO_JOBS_OPEN_MAX}) AS n`
  const { status, body } = await front.post(BODY)
  t.match(
    { status, body },
    { status: 429, body: { error: { metadata: { error_type: 'video_jobs_full' } }, user_id: null } },
  )
})
