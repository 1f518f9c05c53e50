import { readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { Storage } from '../../../../src/server/ports/files/storage.ts'
import { BackupWriter } from '../../../../src/server/cli/operator/backup-folder.ts'
import { backUpContainers } from '../../../../src/server/cli/operator/backup-objects.ts'
import { CONTAINER, openDisk, openFolder, putInContainer } from '../../../support/files/storage.ts'
import { must } from '../../../support/must.ts'

const OF_CONTAINER = join('containers', CONTAINER.workspaceId, CONTAINER.containerId)

t.test(
  'reports a container file that is truncated during the copy as torn, and continues the backup',
  async (t) => {
    const { storage, folder } = await openDisk(t)
    await putInContainer(storage, 'a', Buffer.alloc(1_000_000, 'a'))
    await putInContainer(storage, 'b', 'b')
    const open: Storage['containers']['open'] = async (container, path) => {
      const object = must(await storage.containers.open(container, path))
      // The size that was read first is larger than the bytes that are left.
      if (path === 'a') truncateSync(join(folder, OF_CONTAINER, 'a'), 300_000)
      return ok(object)
    }
    const backup = join(await openFolder(t), 'b')
    t.same(
      await backUpContainers(
        { ...storage, containers: { ...storage.containers, open } },
        new BackupWriter(backup),
      ),
      { files: 2, torn: 1 },
    )
    t.equal(readFileSync(join(backup, 'containers/0')).length, 300_000)
    t.equal(readFileSync(join(backup, 'containers/1'), 'utf8'), 'b')
  },
)

t.test('a backup includes a container that is too large for one listing', async (t) => {
  const { storage } = await openDisk(t)
  await putInContainer(storage, 'file', 'content')
  const list = () => Promise.resolve(fail('container_too_large'))
  const backup = new BackupWriter(join(await openFolder(t), 'b'))
  t.same(await backUpContainers({ ...storage, containers: { ...storage.containers, list } }, backup), {
    files: 1,
    torn: 0,
  })
})
