import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { CAN_WALK } from '../../../src/server/storage/container-paths.ts'
import { openDiskContainers } from '../../../src/server/storage/disk-containers.ts'
import { raceLinks } from '../../support/files/link-race.ts'
import { must } from '../../support/must.ts'
import {
  CONTAINER,
  leftOpen,
  openDisk,
  openFolder,
  openStoredFiles,
  putInContainer,
  staged,
} from '../../support/files/storage.ts'

type Tap = Parameters<typeof openDisk>[0]

async function planted(
  t: Tap,
): Promise<{ storage: Storage; container: string; outside: string; folder: string }> {
  const { storage, folder } = await openDisk(t)
  const outside = join(folder, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'secret'), 'secret')
  await mkdir(join(outside, 'deep'))
  await writeFile(join(outside, 'deep', 'secret'), 'secret')
  await putInContainer(storage, 'plain', 'plain')
  return {
    storage,
    container: join(folder, 'containers', CONTAINER.workspaceId, CONTAINER.containerId),
    outside,
    folder,
  }
}

/** Elsewhere shared prefixes are refused, which the last test shows. */
const LINKS = CAN_WALK ? {} : { skip: 'no /proc on this system' }

t.test('no link is followed, at any position in a path and with any target', LINKS, async (t) => {
  const { storage, container, outside } = await planted(t)
  await symlink(join(outside, 'secret'), join(container, 'file-link'))
  await symlink(outside, join(container, 'dir-link'))
  await symlink('plain', join(container, 'inner-link'))
  await symlink('../../../..', join(container, 'up'))
  await link(join(outside, 'secret'), join(container, 'hard-link'))
  for (const path of [
    'file-link',
    'dir-link/secret',
    'dir-link/deep/secret',
    'inner-link',
    'up/etc/passwd',
    'hard-link',
    'dir-link',
  ]) {
    t.match(
      await storage.containers.open(CONTAINER, path),
      { failure: { name: 'container_file_unknown' } },
      path,
    )
    t.match(
      await storage.containers.stat(CONTAINER, path),
      { failure: { name: 'container_file_unknown' } },
      path,
    )
  }
  t.same(
    must(await storage.containers.list(CONTAINER, null, 100)).files.map(({ path }) => path),
    ['plain'],
  )
})

t.test('a container or a workspace folder that is itself a link counts as empty', LINKS, async (t) => {
  const { storage, outside, folder } = await planted(t)
  const other = { ...CONTAINER, containerId: 'linked' }
  await symlink(outside, join(folder, 'containers', CONTAINER.workspaceId, 'linked'))
  t.same(must(await storage.containers.list(other, null, 10)).files, [])
  t.match(await storage.containers.open(other, 'secret'), { failure: { name: 'container_file_unknown' } })
  const workspaceId = CONTAINER.workspaceId.replace('0190', '0192')
  await symlink(join(folder, 'containers', CONTAINER.workspaceId), join(folder, 'containers', workspaceId))
  t.match(await storage.containers.open({ ...CONTAINER, workspaceId }, 'plain'), {
    failure: { name: 'container_file_unknown' },
  })
})

t.test(
  'a write follows no link: it replaces a link with its own name, and is refused if a folder on its path is a link',
  LINKS,
  async (t) => {
    const { storage, container, outside } = await planted(t)
    await symlink(join(outside, 'secret'), join(container, 'file-link'))
    await symlink(outside, join(container, 'dir-link'))
    await putInContainer(storage, 'file-link', 'written')
    t.equal(await readFile(join(container, 'file-link'), 'utf8'), 'written')
    for (const path of ['dir-link/new', 'dir-link/deep/new', 'plain/below', 'dir-link/new/folder/x']) {
      const staging = await staged(storage, Buffer.from('x'))
      t.match(
        await storage.containers.publish(CONTAINER, path, staging),
        { failure: { name: 'container_path_invalid' } },
        path,
      )
      await staging.discard()
    }
    t.equal(await readFile(join(outside, 'secret'), 'utf8'), 'secret')
    t.same((await readdir(outside)).sort(), ['deep', 'secret'])
  },
)

t.test('a write to the path of a folder is refused, and the folder stays', LINKS, async (t) => {
  const { storage, container } = await planted(t)
  await putInContainer(storage, 'folder/kept', 'kept')
  const staging = await staged(storage, Buffer.from('x'))
  t.match(await storage.containers.publish(CONTAINER, 'folder', staging), {
    failure: { name: 'container_path_invalid' },
  })
  await staging.discard()
  t.equal(await readFile(join(container, 'folder', 'kept'), 'utf8'), 'kept')
})

t.test('a planted named pipe is unknown to reads, and does not block the thread', LINKS, async (t) => {
  const { storage, container } = await planted(t)
  execFileSync('mkfifo', [join(container, 'pipe')])
  t.match(await storage.containers.open(CONTAINER, 'pipe'), { failure: { name: 'container_file_unknown' } })
  t.same(
    must(await storage.containers.list(CONTAINER, null, 9)).files.map(({ path }) => path),
    ['plain'],
  )
})

t.test('listings omit names that are not UTF-8 and paths that are too long for an id', LINKS, async (t) => {
  const { storage, container } = await planted(t)
  await writeFile(Buffer.concat([Buffer.from(`${container}/`), Buffer.from([0x61, 0xff, 0xfe])]), 'x')
  let deep = container
  for (let nth = 0; nth < 5; nth++) await mkdir((deep = join(deep, 'd'.repeat(200))))
  await writeFile(join(deep, 'x'), 'x')
  t.same(
    must(await storage.containers.list(CONTAINER, null, 9)).files.map(({ path }) => path),
    ['plain'],
  )
})

t.test('removing a container removes links and not their targets', LINKS, async (t) => {
  const { storage, container, outside } = await planted(t)
  await symlink(outside, join(container, 'dir-link'))
  await mkdir(join(container, 'sub'))
  await symlink(join(outside, 'secret'), join(container, 'sub', 'file-link'))
  t.equal(must(await storage.containers.removeContainer(CONTAINER)), 3)
  t.same(await readdir(join(outside, 'deep')), ['secret'])
  t.same(must(await storage.containers.listContainers(null)).containers, [])
})

t.test('lists a folder with more names than fit in memory completely and in order', LINKS, async (t) => {
  const { storage, container } = await planted(t)
  const names = Array.from({ length: 4_500 }, (_, nth) => `n${(nth * 7_919) % 4_500}`)
  for (const name of names.slice(0, 30)) {
    mkdirSync(join(container, name))
    await writeFile(join(container, name, 'f'), 'f')
  }
  for (const name of names.slice(30)) symlinkSync('plain', join(container, name))
  const listed = must(await storage.containers.list(CONTAINER, null, 100)).files.map(({ path }) => path)
  t.same(listed, [...names.slice(0, 30).map((name) => `${name}/f`), 'plain'].sort())
})

t.test('links swapped in during file operations never lead outside the container', LINKS, async (t) => {
  const { storage, folder } = await openDisk(t)
  const result = await raceLinks(storage, folder, 1_000)
  t.same(result.leaks, [])
  t.equal(result.descriptorsLeaked, 0)
  t.ok(
    result.swaps > 0 && result.read > 0,
    `${result.read} read, ${result.unknown} unknown, ${result.swaps} swaps`,
  )
})

t.test('reads that fail leave no descriptor open', LINKS, async (t) => {
  const { storage, container, outside } = await planted(t)
  await symlink(outside, join(container, 'dir-link'))
  const before = await openStoredFiles()
  for (const path of ['dir-link/secret', 'missing', 'plain/x', 'a/b/c/d', 'dir-link']) {
    for (let nth = 0; nth < 20; nth++) await storage.containers.stat(CONTAINER, path)
  }
  t.same(await leftOpen(before), [])
})

t.test('on systems where folders cannot be walked safely, container operations are refused', async (t) => {
  const folder = await openFolder(t)
  const containers = openDiskContainers({ folder, trash: folder }, false)
  t.match(await containers.open(CONTAINER, 'a'), { failure: { name: 'containers_unsupported' } })
  t.match(await containers.list(CONTAINER, null, 1), { failure: { name: 'containers_unsupported' } })
})
