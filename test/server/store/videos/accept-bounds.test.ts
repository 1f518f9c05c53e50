import t from 'tap'
import { VIDEO_JOBS_OPEN_MAX, VIDEO_OPEN_CHARS_MAX } from '../../../../src/schemas/videos/video-limits.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import type { Store, Transaction } from '../../../../src/server/store/base/open.ts'
import {
  VIDEO_OPEN_COUNTED_MS,
  VIDEO_OPEN_COUNTS_MAX,
  OpenCounts,
} from '../../../../src/server/store/videos/open-counts.ts'
import { nameOf, openVideoStand, VIDEO_REQUEST, videoInput } from '../../../support/videos/video-jobs.ts'
import {
  VIDEO_ACCEPT_MS_MAX,
  VIDEO_ACCEPTS_BYTES_MAX,
  VIDEO_ACCEPTS_WAITING_MAX,
  VIDEO_BATCH_BYTES_MAX,
  VIDEO_BATCH_JOBS_MAX,
} from '../../../../src/server/store/videos/acceptor.ts'

/** Jobs of each transaction that made some. */
async function batches({ sql }: Store): Promise<readonly number[]> {
  const rows = await sql<{ jobs: number }[]>`SELECT count(*)::int AS jobs FROM video_jobs GROUP BY xmin::text`
  return rows.map(({ jobs }) => jobs).sort((one, other) => other - one)
}

const wide = (chars: number) => ({ ...VIDEO_REQUEST, prompt: 'x'.repeat(chars) })

t.test('jobs that arrive during a transaction join the next one, up to its maximum', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  await Promise.all(
    Array.from({ length: 2 * VIDEO_BATCH_JOBS_MAX + 2 }, () => jobs.accept(videoInput(owners))),
  )
  t.same(await batches(store), [VIDEO_BATCH_JOBS_MAX, VIDEO_BATCH_JOBS_MAX, 1, 1])
})

t.test('large jobs share a transaction up to a byte limit, and a larger job has its own', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  const sizes = [1, 3, 3, 3, 9].map((eighths) => Math.floor((VIDEO_BATCH_BYTES_MAX * eighths) / 8) - 1_000)
  const outcomes = await Promise.all(
    sizes.map((chars) => jobs.accept(videoInput(owners, { request: wide(chars) }))),
  )
  t.ok(outcomes.every(({ ok }) => ok))
  t.same(await batches(store), [2, 1, 1, 1])
})

t.test('a front refuses jobs when too many jobs or bytes wait, and accepts again later', async (t) => {
  const { jobs, owners } = await openVideoStand(t)
  const many = Array.from({ length: VIDEO_ACCEPTS_WAITING_MAX + 1 }, () => jobs.accept(videoInput(owners)))
  t.match(await many.at(-1), { ok: false, failure: { name: 'busy', retryAfterS: 1 } })
  t.ok((await Promise.all(many.slice(0, -1))).every(({ ok }) => ok))
  const large = Array.from({ length: 9 }, () =>
    jobs.accept(videoInput(owners, { request: wide(VIDEO_ACCEPTS_BYTES_MAX / 8 - 1_000) })),
  )
  t.same((await Promise.all(large)).map(nameOf), [...Array.from({ length: 8 }, () => 'ok'), 'busy'])
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'ok')
})

t.test('a workspace has a maximum of open jobs, and room again when one has ended', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  await store.sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint, upstream_model,
      submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, expires_at)
    SELECT 'vid_' || n, ${owners.organizationId}, ${owners.workspaceId}, '', '', '', '', '', '', '', gen_random_uuid(), 1, 0, true, gen_random_uuid(),
      utc_today(), clock_timestamp() FROM generate_series(3, ${VIDEO_JOBS_OPEN_MAX}::int) AS n`
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => jobs.accept(videoInput(owners))))
  t.same(outcomes.map(nameOf), ['ok', 'ok', 'video_jobs_full', 'video_jobs_full'])
  await store.sql`UPDATE video_jobs SET state = 'failed' WHERE id = 'vid_3'`
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'ok')
  t.equal(nameOf(await jobs.accept(videoInput(owners))), 'video_jobs_full')
})

t.test(
  "a workspace's open jobs have a maximum total request size, which one job may exceed when none is open",
  async (t) => {
    const { jobs, open, store, owners } = await openVideoStand(t)
    t.equal(nameOf(await jobs.accept(videoInput(owners, { request: wide(1_000_000) }))), 'ok')
    t.match(
      await store.sql`SELECT request_chars > 1000000 AND request_chars < 1001000 AS is_counted FROM video_jobs`,
      [{ is_counted: true }],
    )
    await store.sql`UPDATE video_jobs SET request_chars = ${VIDEO_OPEN_CHARS_MAX - 100_000}`
    const front = open()
    for (const limits of [{}, { isCreditLimited: true }]) {
      t.equal(
        nameOf(await front.accept(videoInput(owners, { request: wide(100_000), limits }))),
        'video_jobs_full',
      )
    }
    t.equal(nameOf(await front.accept(videoInput(owners))), 'ok')
    await store.sql`UPDATE video_jobs SET state = 'failed'`
    t.equal(nameOf(await front.accept(videoInput(owners, { request: wide(100_000) }))), 'ok')
  },
)

t.test('open jobs are recounted when a count is old, and the number of kept counts is bounded', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  await jobs.accept(videoInput(owners))
  let now = 0
  const counts = new OpenCounts(() => now)
  const count = (...ids: readonly string[]) =>
    store.sql
      .begin((tx: Transaction) => counts.of(tx, ids))
      .then((open) => open.get(owners.workspaceId)?.count)
  t.equal(await count(owners.workspaceId), 1)
  await jobs.accept(videoInput(owners))
  t.equal(await count(owners.workspaceId), 1)
  counts.add(owners.workspaceId, 0)
  t.equal(await count(owners.workspaceId), 2)
  await store.sql`DELETE FROM video_jobs`
  await count(...Array.from({ length: VIDEO_OPEN_COUNTS_MAX - 1 }, newId))
  t.equal(await count(owners.workspaceId), 2)
  now = VIDEO_OPEN_COUNTED_MS
  t.equal(await count(owners.workspaceId), 0)
})

t.test('a transaction has a time limit; a locked workspace does not hold up others', async (t) => {
  const { jobs, store, owners } = await openVideoStand(t)
  const [other] = await store.sql<{ id: string }[]>`
    INSERT INTO workspaces (id, organization_id, name, slug) VALUES (gen_random_uuid(), ${owners.organizationId}, 'b', 'b') RETURNING id`
  let late = Promise.resolve('')
  await store.sql.begin(async (tx) => {
    await tx`SELECT FROM workspaces WHERE id = ${other?.id ?? ''} FOR UPDATE`
    const input = videoInput(owners, { workspaceId: other?.id ?? '' })
    late = jobs.accept(input).then(nameOf)
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => jobs.accept(videoInput(owners))))
    t.same(new Set(outcomes.map(nameOf)), new Set(['ok']))
  })
  t.equal(await late, 'ok')
  t.ok(VIDEO_ACCEPT_MS_MAX >= 1_000)
})
