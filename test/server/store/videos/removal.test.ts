import t from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import { VIDEO_CLIPS_MAX, VIDEO_ENDS_AT_ONCE } from '../../../../src/schemas/videos/video-limits.ts'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import {
  VIDEO_CLIPS_EXPIRED_AT_ONCE,
  expireClips,
} from '../../../../src/server/runner/videos/expire-clips.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { removeWorkspace } from '../../../../src/server/store/lifecycle/open-workspaces.ts'
import { endDeletedVideos } from '../../../../src/server/store/videos/removal.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { SILENT } from '../../../support/log.ts'
import { imbalances } from '../../../support/money/money.ts'
import { must, present } from '../../../support/must.ts'
import {
  clip,
  LEASE_MS,
  openVideoStand,
  type NewRow,
  type VideoStand,
} from '../../../support/videos/video-rows.ts'

const CALLBACK = 'https://hooks.test/in'
const BY = { ...CLI, operation: 'workspaces.delete' } as const

async function remove({ store, owners: { organizationId } }: VideoStand, reference: string): Promise<void> {
  must(
    await store.sql.begin((tx) =>
      removeWorkspace(tx, { ref: { organizationId, reference }, mayBeDefault: true, by: BY }),
    ),
  )
}

async function completed(stand: VideoStand, more: Partial<NewRow> = {}): Promise<string> {
  const id = await stand.accept({ dueMs: 1_000_000, ...more })
  const claim = present((await stand.work.claim(new Map([['acme', 1]]), LEASE_MS))[0])
  await stand.work.end(claim, { kind: 'completed', clips: [clip(`${id}-0`), clip(`${id}-1`)] })
  return id
}

t.test(
  'deleting a workspace ends its jobs, returns their holds, and deletes clips, deliveries and secrets',
  async (t) => {
    const stand = await openVideoStand(t)
    const { store, work } = stand
    const workspaceId = await stand.workspace()
    await completed(stand, { workspaceId, callbackUrl: CALLBACK })
    const other = await completed(stand, { callbackUrl: CALLBACK })
    for (let nth = 0; nth <= VIDEO_ENDS_AT_ONCE; nth++)
      await stand.accept({ workspaceId, callbackUrl: CALLBACK, heldNano: 10 })
    const claim = present((await work.claim(new Map([['acme', 1]]), LEASE_MS))[0])
    await remove(stand, workspaceId)
    t.equal(await work.submitting(claim, { leaseMs: LEASE_MS, callMs: 1 }), null, 'its runner does no more')
    t.same(await work.claim(new Map([['acme', 9]]), LEASE_MS), [], 'and no other one takes it')
    t.same(await endDeletedVideos(store, SILENT), VIDEO_ENDS_AT_ONCE + 1)
    t.same(await endDeletedVideos(store, SILENT), 0)
    t.same(await store.sql`SELECT * FROM leases`, [])
    t.same(await store.sql`SELECT DISTINCT job_id FROM video_clips`, [{ job_id: other }])
    t.same(await store.sql`SELECT job_id FROM webhook_deliveries`, [{ job_id: other }], 'nobody is told')
    t.same(await imbalances(store.sql), [])
    t.same(must(await checkLedger(store)).differences, [])
  },
)

t.test(
  'an end that races the deletion of its workspace is booked once, and its data is deleted',
  async (t) => {
    const stand = await openVideoStand(t)
    for (let round = 0; round < 10; round++) {
      const workspaceId = await stand.workspace()
      for (let nth = 0; nth < 6; nth++)
        await stand.accept({ workspaceId, callbackUrl: CALLBACK, heldNano: 10 })
      const claims = await stand.work.claim(new Map([['acme', 6]]), LEASE_MS)
      await Promise.all([
        remove(stand, workspaceId),
        ...claims.map((claim) =>
          stand.work.end(claim, { kind: 'completed', clips: [clip(`${claim.id}-0`)] }),
        ),
        stand.work.renew(claims, LEASE_MS),
      ])
      await endDeletedVideos(stand.store, SILENT)
    }
    t.same(await stand.store.sql`SELECT * FROM leases`, [])
    t.same(await stand.store.sql`SELECT * FROM video_clips`, [])
    t.same(await stand.store.sql`SELECT * FROM webhook_deliveries`, [])
    t.same(await imbalances(stand.store.sql), [])
  },
)

t.test('deletes the row of an expired clip, and returns its id so its bytes can be deleted', async (t) => {
  const stand = await openVideoStand(t, 8, { clipsKeptMs: 60_000 })
  const [old, young] = [await completed(stand), await completed(stand)]
  await stand.store.sql`UPDATE video_jobs SET clips_expire_at = now() - interval '1 s' WHERE id = ${old}`
  const rounds = await Promise.all([stand.work.expireClips(100), stand.work.expireClips(100)])
  t.same(rounds.flat().sort(), [`${old}-0`, `${old}-1`])
  t.same(await stand.work.expireClips(100), [])
  t.same((await stand.store.sql`SELECT object_id FROM video_clips`).map((row) => row['object_id']).sort(), [
    `${young}-0`,
    `${young}-1`,
  ])
  t.match(await stand.row(old), { state: 'completed', outputs: 2, clips_expire_at: null })
})

t.test('all expired clips are deleted in one round, however few clips each job has', async (t) => {
  const stand = await openVideoStand(t)
  const jobCount = VIDEO_CLIPS_EXPIRED_AT_ONCE / VIDEO_CLIPS_MAX + 5
  await Promise.all(Array.from({ length: jobCount }, () => stand.accept()))
  const claims = await stand.work.claim(new Map([['acme', jobCount]]), LEASE_MS)
  await Promise.all(
    claims.map((claim) => stand.work.end(claim, { kind: 'completed', clips: [clip(`${claim.id}-0`)] })),
  )
  await stand.store.sql`UPDATE video_jobs SET clips_expire_at = now() - interval '1 s'`
  const removed: string[] = []
  const remove = (id: string) => Promise.resolve(ok(removed.push(id) > 0))
  t.equal(await expireClips(stand.work, { remove }, () => false), jobCount)
  t.equal(new Set(removed).size, jobCount)
  t.equal(await expireClips(stand.work, { remove }, () => true), 0)
})

t.test('clips, and objects that open jobs may be about to store, do not count as orphans', async (t) => {
  const stand = await openVideoStand(t)
  const sweep = openFileSweep(stand.store)
  const [ended, open] = [await completed(stand), await stand.accept()]
  const objects = [`${ended}-0`, `${ended}-9-overtaken`, `${open}-0`, `${open}x-0`, open, 'file_never']
  t.same(must(await sweep.withoutRow(objects)), [`${ended}-9-overtaken`, `${open}x-0`, open, 'file_never'])
  t.match(must(await sweep.clips(null, 1)), [
    { id: `${ended}-0`, sizeBytes: 9, sha256: 'ab', workspaceId: stand.owners.workspaceId },
  ])
  t.match(must(await sweep.clips(`${ended}-0`, 9)), [{ id: `${ended}-1` }])
})
