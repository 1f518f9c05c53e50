import t from 'tap'
import {
  COUNTED_BYTES_MIN,
  FILE_EXPIRES_S_MAX,
  FILE_EXPIRES_S_MIN,
} from '../../../src/schemas/files/file-limits.ts'
import { sweep } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import { begun, FACTS, openFileStand, storedFile } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { openDisk, put } from '../../support/files/storage.ts'
import { OWN_PLACE } from '../../support/files/sweeps.ts'

t.setTimeout(600_000)

t.test('removes the bytes of an expired file and frees its quota, and removes no other file', async (t) => {
  const [{ files, store, workspaceId }, { storage }] = [await openFileStand(t), await openDisk(t)]
  const parts = {
    rows: openFileSweep(store),
    uses: openContainerUses(store),
    sizes: openContainerSizes(store),
    storage,
    checkPlace: OWN_PLACE,
    now: Date.now,
  }
  const ids: string[] = []
  for (const expiresAfterS of [FILE_EXPIRES_S_MIN, FILE_EXPIRES_S_MAX, null]) {
    const upload = await begun(files, workspaceId, FACTS.sizeBytes)
    must(await files.commit(upload, { ...FACTS, expiresAfterS }))
    await put(storage, upload.id, Buffer.from('kept'))
    ids.push(upload.id)
  }
  t.match(await sweep(parts), { report: { expired: 0 }, failures: [] })
  const listed = async () => Promise.reject(new Error('it lists'))
  const blind = {
    ...storage,
    list: listed,
    sweepStaging: listed,
    containers: { ...storage.containers, listContainers: listed },
  }
  await store.sql`UPDATE files SET expires_at = expires_at - ${FILE_EXPIRES_S_MIN} * interval '1 s' WHERE expires_at IS NOT NULL`
  t.match(await sweep({ ...parts, storage: blind }, { isUploadsOnly: true }), {
    report: { expired: 1 },
    failures: [],
  })
  t.same(
    must(await storage.list(null))
      .objects.map(({ objectId }) => objectId)
      .sort(),
    ids.slice(1).sort(),
  )
  t.same(
    must(await files.list(workspaceId, { after: null, limit: 9 })).files.map(({ id }) => id),
    ids.slice(1),
  )
  t.equal(must(await files.usage(workspaceId)).usedBytes, 2 * COUNTED_BYTES_MIN)
})

t.test('an expired file cannot be read, listed or removed before it is swept', async (t) => {
  const { files, store, workspaceId } = await openFileStand(t)
  const ids: string[] = []
  for (const expiresAfterS of [FILE_EXPIRES_S_MIN, FILE_EXPIRES_S_MAX, FILE_EXPIRES_S_MIN])
    ids.push(await storedFile(files, workspaceId, { expiresAfterS }))
  const [gone = '', kept, going = ''] = ids
  await store.sql`UPDATE files SET expires_at = clock_timestamp() WHERE id = ${gone}`
  await store.sql`UPDATE files SET expires_at = clock_timestamp() + interval '1 min' WHERE id = ${going}`
  for (const end of [files.get(workspaceId, gone), files.remove(workspaceId, gone)])
    t.match(await end, { failure: { name: 'file_unknown' } })
  for (const purpose of [null, 'user_data']) {
    t.match(must(await files.list(workspaceId, { after: null, purpose, limit: 2 })), {
      files: [{ id: kept }, { id: going }],
      hasMore: false,
    })
    t.match(must(await files.list(workspaceId, { after: null, before: kept ?? '', purpose, limit: 2 })), {
      files: [],
      hasMore: false,
    })
  }
  t.equal(must(await files.get(workspaceId, going)).id, going)
  t.ok((await files.remove(workspaceId, going)).ok)
  const rows = openFileSweep(store)
  t.same(
    must(await rows.page(null, 9)).map(({ id }) => id),
    [gone, kept],
    'whose bytes are still there',
  )
  t.same(must(await rows.removeExpired(9)), [gone])
})
