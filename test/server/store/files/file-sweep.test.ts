import t from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import { CONTAINER_KEPT_MS, COUNTED_BYTES_MIN } from '../../../../src/schemas/files/file-limits.ts'
import { openContainerUses } from '../../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { begun, FACTS, openFileStand, storedFile } from '../../../support/files/files.ts'
import { must, present } from '../../../support/must.ts'

const SPENT = { leaseMs: -1 }

t.test(
  'an upload with an expired lease is abandoned first, which frees its quota and refuses a late commit',
  async (t) => {
    const { files, store, workspaceId } = await openFileStand(t, SPENT)
    const upload = await begun(files, workspaceId, 100)
    const [stale, ...more] = must(await openFileSweep(store).claimStale(10))
    t.match(stale, { id: upload.id, workspaceId, attempt: 2 })
    t.same(more, [])
    t.equal(must(await files.usage(workspaceId)).reservedBytes, 0)
    t.match(await files.commit(upload, FACTS), { failure: { name: 'upload_lost' } })
    t.match(await files.get(workspaceId, upload.id), { failure: { name: 'file_unknown' } })
    t.equal(must(await openFileSweep(store).forget(present(stale))), true)
    t.same(await store.sql`SELECT * FROM files`, [])
  },
)

t.test('a running upload and a stored file are not swept', async (t) => {
  const { files, store, workspaceId, open } = await openFileStand(t)
  await begun(files, workspaceId, 100)
  const late = open(SPENT)
  await storedFile(late, workspaceId)
  t.same(must(await openFileSweep(store).claimStale(10)), [])
})

t.test('only one of many sweeps claims an upload, and after its crash the next one does', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t, SPENT)
  for (let nth = 0; nth < 5; nth++) await begun(files, workspaceId, 100)
  const sweep = openFileSweep(store)
  const claimed = (await Promise.all(Array.from({ length: 6 }, () => sweep.claimStale(10)))).flatMap(must)
  t.equal(claimed.length, 5)
  t.equal(must(await files.usage(workspaceId)).reservedBytes, 0)
  await store.sql`UPDATE files SET lease_until = '-infinity'`
  const again = must(await sweep.claimStale(10))
  t.equal(again.length, 5)
  t.equal(must(await sweep.forget(present(claimed[0]))), false, 'the first sweep no longer owns it')
  t.equal(must(await sweep.forget(present(again[0]))), true)
})

t.test('of a racing commit and sweep exactly one succeeds, and the quota matches', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t, SPENT)
  const sweep = openFileSweep(store)
  for (let round = 0; round < 30; round++) {
    const upload = await begun(files, workspaceId, 100)
    const [committed, claimed] = await Promise.all([files.commit(upload, FACTS), sweep.claimStale(10)])
    t.equal(committed.ok, must(claimed).length === 0)
  }
  const stored = must(await files.list(workspaceId, { after: null, limit: 100 })).files.length
  t.same(must(await files.usage(workspaceId)), {
    quotaBytes: 10 * 2 ** 30,
    usedBytes: stored * COUNTED_BYTES_MIN,
    reservedBytes: 0,
  })
})

t.test('finds the objects that have no row', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t)
  const sweep = openFileSweep(store)
  const ready = await storedFile(files, workspaceId)
  const pending = await begun(files, workspaceId, 1)
  const abandoned = await begun(files, workspaceId, 1)
  must(await files.abandon(abandoned, true))
  const deleted = await storedFile(files, workspaceId)
  must(await files.remove(workspaceId, deleted))
  const tombstone = must(
    await files.begin({
      workspaceId,
      reserveBytes: 1,
      idempotency: { key: 'k', apiKeyHash: 'h', requestDigest: 'd' },
    }),
  )
  if (tombstone.kind !== 'new') throw new Error('not new')
  must(await files.commit(tombstone.upload, FACTS))
  must(await files.remove(workspaceId, tombstone.upload.id))
  const ids = [ready, pending.id, abandoned.id, deleted, tombstone.upload.id, 'file_never']
  t.same(must(await sweep.withoutRow(ids)), [deleted, tombstone.upload.id, 'file_never'])
  t.same(must(await sweep.withoutRow([])), [])
})

t.test('stored files of all workspaces are paged by id', async (t) => {
  const { files, store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const ids = [
    await storedFile(files, workspaceId),
    await storedFile(files, otherWorkspaceId),
    await storedFile(files, workspaceId),
  ].sort()
  await begun(files, workspaceId, 1)
  const sweep = openFileSweep(store)
  const first = must(await sweep.page(null, 2))
  const second = must(await sweep.page(first.at(-1)?.id ?? null, 2))
  t.same(
    [...first, ...second].map(({ id }) => id),
    ids,
  )
})

t.test('expired uses are deleted, even those of containers that no longer exist', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const uses = openContainerUses(store)
  must(await uses.touch(workspaceId, 'sess_old'))
  await store.sql`UPDATE container_uses SET used_at = now() - ${CONTAINER_KEPT_MS + 60_000} * interval '1 ms'`
  must(await uses.touch(workspaceId, 'sess_new'))
  must(await openFileSweep(store).expire())
  t.same([...must(await uses.lastUses(workspaceId, ['sess_old', 'sess_new'])).keys()], ['sess_new'])
})

t.test(
  'the use of a container is written once an hour, and deleted only if it is not newer than the given time',
  async (t) => {
    const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
    const uses = openContainerUses(store)
    must(await uses.touch(workspaceId, 'sess_a'))
    const first = present(must(await uses.lastUses(workspaceId, ['sess_a', 'sess_b'])).get('sess_a'))
    const elsewhere = openContainerUses(store)
    must(await elsewhere.touch(workspaceId, 'sess_a'))
    t.same(must(await uses.lastUses(workspaceId, ['sess_a'])).get('sess_a'), first)
    t.equal(must(await uses.lastUses(otherWorkspaceId, ['sess_a'])).size, 0)
    await store.sql`UPDATE container_uses SET used_at = now() - interval '61 minutes'`
    const before = present(must(await uses.lastUses(workspaceId, ['sess_a'])).get('sess_a'))
    must(await openContainerUses(store).touch(workspaceId, 'sess_a'))
    const container = { workspaceId, containerId: 'sess_a' }
    const remove = () => Promise.resolve(ok('removed'))
    t.equal(must(await uses.removal(container, before, remove)), null)
    t.equal(must(await uses.removal(container, new Date(Date.now() + 60_000), remove)), 'removed')
    t.equal(must(await uses.lastUses(workspaceId, ['sess_a'])).size, 0)
    t.equal(must(await uses.removal(container, before, remove)), 'removed', 'one without a row was not used')
  },
)
