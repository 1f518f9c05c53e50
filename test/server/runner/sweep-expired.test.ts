import t from 'tap'
import { FILE_EXPIRES_S_MAX, FILE_EXPIRES_S_MIN } from '../../../src/schemas/file-limits.ts'
import { sweep } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/file-sweep.ts'
import { begun, FACTS, openFileStand } from '../../support/files.ts'
import { must } from '../../support/must.ts'
import { openDisk, put } from '../../support/storage.ts'

t.setTimeout(600_000)

t.test('a file whose time has come goes with its bytes and its quota, and no other', async (t) => {
  const [{ files, store, workspaceId }, { storage }] = [await openFileStand(t), await openDisk(t)]
  const parts = { rows: openFileSweep(store), uses: openContainerUses(store), sizes: openContainerSizes(store), storage, now: Date.now }
  const ids: string[] = []
  for (const expiresAfterS of [FILE_EXPIRES_S_MIN, FILE_EXPIRES_S_MAX, null]) {
    const upload = await begun(files, workspaceId, FACTS.sizeBytes)
    must(await files.commit(upload, { ...FACTS, expiresAfterS }))
    await put(storage, upload.id, Buffer.from('kept'))
    ids.push(upload.id)
  }
  t.match(await sweep(parts), { report: { expired: 0 }, failures: [] })
  await store.sql`UPDATE files SET expires_at = expires_at - ${FILE_EXPIRES_S_MIN} * interval '1 s' WHERE expires_at IS NOT NULL`
  t.match(await sweep(parts), { report: { expired: 1 }, failures: [] })
  t.same(must(await storage.list(null)).objects.map(({ objectId }) => objectId).sort(), ids.slice(1).sort())
  t.same(must(await files.list(workspaceId, { after: null, limit: 9 })).files.map(({ id }) => id), ids.slice(1))
  t.equal(must(await files.usage(workspaceId)).usedBytes, 2 * FACTS.sizeBytes)
})
