import t from 'tap'
import { sweep } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import { openFileStand } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { openDisk, putInContainer } from '../../support/files/storage.ts'
import { OWN_PLACE } from '../../support/files/sweeps.ts'

t.test(
  'the next sweep removes the containers of a deleted workspace, of any age, and no others',
  async (t) => {
    const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
    const { storage } = await openDisk(t)
    const uses = openContainerUses(store)
    for (const id of [workspaceId, otherWorkspaceId])
      await putInContainer(storage, 'a', 'a', { workspaceId: id, containerId: 'sess_a' })
    must(await uses.touch(workspaceId, 'sess_a'))
    await store.sql`UPDATE workspaces SET deleted_at = now() WHERE id = ${workspaceId}`
    const parts = {
      rows: openFileSweep(store),
      uses,
      sizes: openContainerSizes(store),
      storage,
      checkPlace: OWN_PLACE,
      now: () => Date.now() + 1_000,
    }
    t.match(await sweep(parts), { report: { containers: 1, container_files: 1 }, failures: [] })
    t.match(await storage.containers.stat({ workspaceId: otherWorkspaceId, containerId: 'sess_a' }, 'a'), {
      ok: true,
    })
  },
)
