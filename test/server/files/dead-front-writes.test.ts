import { randomUUID } from 'node:crypto'
import t from 'tap'
import { UPLOAD_LEASE_MS } from '../../../src/schemas/files/file-limits.ts'
import { sweep } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { abandonWritesOf } from '../../../src/server/store/files/dead-fronts.ts'
import { begun } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { putInContainer } from '../../support/files/storage.ts'
import { inContainer, openTransfers } from '../../support/files/transfers.ts'
import { OWN_PLACE } from '../../support/files/sweeps.ts'

const SIZE_BYTES = 10_000
const TO = { containerId: 'sess_abc', path: 'out/a.txt', sizeBytes: SIZE_BYTES }

for (const isPublished of [false, true]) {
  for (const by of ['its node', 'a sweep'] as const) {
    t.test(
      `a path that a dead front was writing to is freed at once by ${by}; its file was ${isPublished ? '' : 'not '}there`,
      async (t) => {
        const { store, storage, sweep: rows, workspaceId, open } = await openTransfers(t)
        const [dead, living] = [randomUUID(), randomUUID()]
        const filesOf = (frontId: string) => open({ leaseMs: UPLOAD_LEASE_MS, frontId, containerWaitMs: 0 })
        await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${living}, 'node', 1, 0, now())`
        const [gone, files] = [filesOf(dead), filesOf(living)]
        must(await gone.claimPath(await begun(gone, workspaceId, SIZE_BYTES), TO))
        must(await files.claimPath(await begun(files, workspaceId, SIZE_BYTES), { ...TO, path: 'out/b.txt' }))
        if (isPublished)
          await putInContainer(
            storage,
            TO.path,
            'x'.repeat(SIZE_BYTES),
            inContainer(workspaceId, 'a').container,
          )
        const full = must(await files.usage(workspaceId)).usedBytes
        if (by === 'its node') await abandonWritesOf(store, dead)
        const parts = {
          rows,
          uses: openContainerUses(store),
          sizes: openContainerSizes(store),
          storage,
          checkPlace: OWN_PLACE,
          now: Date.now,
        }
        t.match(await sweep(parts, { isUploadsOnly: true }), {
          failures: [],
          report: { recounted: isPublished ? 0 : 1 },
        })
        const freed = full - must(await files.usage(workspaceId)).usedBytes
        t.ok(isPublished ? freed === 0 : freed >= SIZE_BYTES, `${freed} bytes are free again`)
        const next = await begun(files, workspaceId, SIZE_BYTES)
        t.match(
          await files.claimPath(next, { ...TO, path: 'out/b.txt' }),
          { failure: { name: 'busy' } },
          'the other one lives',
        )
        t.ok((await files.claimPath(next, TO)).ok)
      },
    )
  }
}
