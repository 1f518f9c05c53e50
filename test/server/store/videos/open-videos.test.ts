import t from 'tap'
import { newId, newVideoId } from '../../../../src/server/store/base/ids.ts'
import { must } from '../../../support/must.ts'
import {
  accepted,
  nameOf,
  openVideoStand,
  OWN,
  videoInput,
  type VideoStand,
} from '../../../support/videos/video-jobs.ts'

/** Moves the row of a job as a runner does, without publishing it. */
async function move({ store }: VideoStand, id: string, columns: object): Promise<void> {
  await store.sql`UPDATE video_jobs SET ${store.sql(columns)} WHERE id = ${id}`
}

async function addClip({ store, owners }: VideoStand, id: string, index: number): Promise<void> {
  await store.sql`
    INSERT INTO video_clips (job_id, index, object_id, workspace_id, data_key_id, size_bytes, sha256)
    VALUES (${id}, ${index}, ${`o${index}`}, ${owners.workspaceId}, ${newId()}, 5000000000, ${'c'.repeat(64)})`
}

t.test('after the row was read, an older view is no longer shown, on this front or on others', async (t) => {
  const stand = await openVideoStand(t)
  const { jobs, views, owners } = stand
  const id = await accepted(jobs, videoInput(owners))
  await move(stand, id, { state: 'running', generation_id: 'gen_1' })
  t.equal(must(await jobs.get(owners.workspaceId, id)).status, 'pending', 'the view is behind')
  const { videos } = must(await jobs.list(owners.workspaceId, { after: null, limit: 10 }))
  t.match(videos, [{ id, status: 'in_progress', generationId: 'gen_1' }])
  t.equal(must(await stand.open().get(owners.workspaceId, id)).status, 'in_progress')
  views.kept.delete(id)
  await move(stand, id, { state: 'failed', error: 'e' })
  t.match(must(await jobs.get(owners.workspaceId, id)), { status: 'failed', error: 'e', usage: null })
  await views.put({
    id,
    workspaceId: owners.workspaceId,
    status: 'in_progress',
    generationId: 'gen_1',
    error: null,
    outputs: 0,
    usage: null,
  })
  t.equal(must(await jobs.get(owners.workspaceId, id)).status, 'failed')
})

t.test('without Redis jobs are accepted, read and listed', async (t) => {
  const stand = await openVideoStand(t)
  const { jobs, views, owners } = stand
  views.isAway = true
  const id = await accepted(jobs, videoInput(owners))
  t.equal(must(await jobs.get(owners.workspaceId, id)).status, 'pending')
  t.equal(must(await jobs.list(owners.workspaceId, { after: null, limit: 1 })).videos[0]?.id, id)
})

t.test('while Redis is available, polls cause no query to Postgres', async (t) => {
  const stand = await openVideoStand(t)
  const id = await accepted(stand.jobs, videoInput(stand.owners))
  await stand.store.sql`ALTER TABLE video_jobs RENAME TO away`
  for (let nth = 0; nth < 10; nth++)
    t.equal(must(await stand.jobs.get(stand.owners.workspaceId, id)).status, 'pending')
  await stand.store.sql`ALTER TABLE away RENAME TO video_jobs`
})

t.test('a completed job has its cost, or null when unknown, and the payer', async (t) => {
  const stand = await openVideoStand(t)
  const { jobs, views, owners } = stand
  const ids = [
    await accepted(jobs, videoInput(owners)),
    await accepted(jobs, videoInput(owners, { costNano: 0, isUnpriced: true })),
    await accepted(jobs, videoInput(owners, { target: OWN })),
  ]
  for (const id of ids) await move(stand, id, { state: 'completed', outputs: 2 })
  views.kept.clear()
  const usages = await Promise.all(ids.map(async (id) => must(await jobs.get(owners.workspaceId, id))))
  t.same(
    usages.map(({ usage, outputs }) => [usage, outputs]),
    [
      [{ costNano: 100, isByok: false }, 2],
      [{ costNano: null, isByok: false }, 2],
      [{ costNano: 100, isByok: true }, 2],
    ],
  )
})

t.test('lists jobs newest first, page by page, even after a job that was deleted', async (t) => {
  const stand = await openVideoStand(t)
  const { jobs, store, owners } = stand
  const ids = (await Promise.all(Array.from({ length: 7 }, () => accepted(jobs, videoInput(owners)))))
    .sort()
    .reverse()
  const seen: string[] = []
  let after: string | null = null
  for (let hasMore = true; hasMore;) {
    const page = must(await jobs.list(owners.workspaceId, { after, limit: 3 }))
    seen.push(...page.videos.map(({ id }) => id))
    after = seen.at(-1) ?? null
    hasMore = page.hasMore
    await store.sql`DELETE FROM video_jobs WHERE id = ${after}`
  }
  t.same(seen, ids)
  t.same(must(await jobs.list(newId(), { after: null, limit: 3 })), { videos: [], hasMore: false })
  t.same(must(await jobs.list(owners.workspaceId, { after: 'x\0', limit: 3 })), {
    videos: [],
    hasMore: false,
  })
})

t.test('a clip is found once its job has completed, and until it expires', async (t) => {
  const stand = await openVideoStand(t)
  const {
    jobs,
    owners: { workspaceId },
  } = stand
  const id = await accepted(jobs, videoInput(stand.owners))
  t.equal(nameOf(await jobs.output(workspaceId, id, 0)), 'video_unfinished')
  await move(stand, id, { state: 'completed', outputs: 2 })
  await addClip(stand, id, 1)
  for (const index of [2 ** 31, Number.MAX_SAFE_INTEGER])
    t.equal(nameOf(await jobs.output(workspaceId, id, index)), 'video_output_unknown', `${index}`)
  t.match(must(await jobs.output(workspaceId, id, 1)), {
    jobId: id,
    index: 1,
    objectId: 'o1',
    workspaceId,
    sizeBytes: 5_000_000_000,
  })
  t.equal(nameOf(await jobs.output(workspaceId, id, 0)), 'video_expired')
  t.equal(nameOf(await jobs.output(workspaceId, id, 2)), 'video_output_unknown')
  for (const [workspace, job] of [
    [newId(), id],
    [workspaceId, newVideoId()],
    [workspaceId, 'x\0'],
  ] as const) {
    t.equal(nameOf(await jobs.output(workspace, job, 0)), 'video_unknown')
  }
  await move(stand, id, { state: 'failed' })
  t.equal(nameOf(await jobs.output(workspaceId, id, 1)), 'video_unfinished')
})

t.test('a job can continue only a completed job of its own workspace', async (t) => {
  const stand = await openVideoStand(t)
  const {
    jobs,
    owners: { workspaceId },
  } = stand
  const id = await accepted(jobs, videoInput(stand.owners, { target: OWN }))
  await move(stand, id, { state: 'running', upstream_id: 'up_1' })
  t.equal(nameOf(await jobs.previous(workspaceId, id)), 'video_unfinished')
  await move(stand, id, { state: 'completed' })
  t.same(must(await jobs.previous(workspaceId, id)), {
    provider: 'acme',
    upstreamId: 'up_1',
    ownSecret: 'mine',
    seconds: 5,
    costNano: 100,
  })
  for (const [workspace, job] of [
    [newId(), id],
    [workspaceId, newVideoId()],
    [workspaceId, ''],
  ] as const) {
    t.equal(nameOf(await jobs.previous(workspace, job)), 'video_unknown')
  }
})

t.test('a view in Redis is shown only to its own workspace', async (t) => {
  const { jobs, views, owners } = await openVideoStand(t)
  const id = await accepted(jobs, videoInput(owners))
  t.ok(views.kept.has(id))
  t.match(await jobs.get(newId(), id), { failure: { name: 'video_unknown' } })
})
