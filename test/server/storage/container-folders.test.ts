import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FSYNCS_MAX } from '../../../src/schemas/files/file-limits.ts'
import { must } from '../../support/must.ts'
import {
  CONTAINER,
  leftOpen,
  openDisk,
  openStoredFiles,
  putInContainer,
  type openFolder,
} from '../../support/files/storage.ts'

/** Counts the calls of `fsync` on every handle until the test has ended. */
async function watchSyncs(t: Parameters<typeof openFolder>[0]): Promise<{ count: number; most: number }> {
  const seen = { count: 0, most: 0 }
  const handle = await open('.', 'r')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const { sync } = prototype
  let running = 0
  prototype.sync = async function watched(this: FileHandle) {
    seen.count++
    seen.most = Math.max(seen.most, ++running)
    try {
      await sync.call(this)
    } finally {
      running--
    }
  }
  t.teardown(() => (prototype.sync = sync))
  return seen
}

t.test(
  `new folders of writes are synced to disk, ${FSYNCS_MAX} at once at most, with three syncs for each write at most`,
  async (t) => {
    const { storage } = await openDisk(t)
    const syncs = await watchSyncs(t)
    const writes = Array.from({ length: 40 }, (_, nth) =>
      putInContainer(storage, `${nth}/b/c/d/e/f/g/h/file`, 'x'),
    )
    await Promise.all(writes)
    t.ok(syncs.most <= FSYNCS_MAX, `${syncs.most} at once`)
    t.ok(syncs.count > 0 && syncs.count <= 3 * writes.length, `${syncs.count} in all`)
  },
)

/** A container with so many of these. */
async function filled(t: Parameters<typeof openFolder>[0], count: number, make: (path: string) => void) {
  const { storage, folder } = await openDisk(t)
  const place = join(folder, 'containers', CONTAINER.workspaceId, CONTAINER.containerId)
  await mkdir(place, { recursive: true })
  for (let nth = 0; nth < count; nth++) make(join(place, `n${nth}`))
  return { ...storage.containers, folder }
}

t.test('a disconnect of the caller ends a listing, and closes its folders', async (t) => {
  const { list } = await filled(t, 5_000, (path) => writeFileSync(path, ''))
  const before = await openStoredFiles()
  const leaving = new AbortController()
  const listing = list(CONTAINER, null, 1, leaving.signal)
  setImmediate(() => leaving.abort())
  t.match(await listing, { failure: { name: 'client_gone' } })
  t.match(await list(CONTAINER, null, 1, leaving.signal), { failure: { name: 'client_gone' } })
  t.same(await leftOpen(before), [])
})

t.test('a container with too many folders fails with another error than unavailable storage', async (t) => {
  const { list } = await filled(t, 2_600, (path) => mkdirSync(path))
  t.match(await list(CONTAINER, null, 1), { failure: { name: 'container_too_large' } })
})

t.test('two listings run at once, some wait, and the rest are refused as busy', async (t) => {
  const { list } = await filled(t, 3, (path) => writeFileSync(path, ''))
  const answers = await Promise.all(Array.from({ length: 30 }, () => list(CONTAINER, null, 1)))
  const busy = answers.filter((answer) => !answer.ok && answer.failure.name === 'busy')
  t.equal(busy.length, 30 - 2 - 16)
  t.equal(answers.filter(({ ok }) => ok).length, 18)
  t.match(await list(CONTAINER, null, 1), { ok: true })
})

t.test('old leftovers of a crash in the trash are deleted, and new entries stay', async (t) => {
  const { emptyTrash, folder } = await filled(t, 0, () => undefined)
  mkdirSync(join(folder, 'trash', 'left', 'a', 'b'), { recursive: true })
  writeFileSync(join(folder, 'trash', 'left', 'a', 'f'), 'x')
  writeFileSync(join(folder, 'trash', 'file'), 'x')
  t.equal(must(await emptyTrash(60_000)), 0)
  // The clock of files is finer than ours: what was made in this millisecond may seem to come yet.
  t.equal(must(await emptyTrash(-1)), 2)
  t.same(await readdir(join(folder, 'trash')), [])
})

t.test(
  'a file written into a container during its removal stays, even if a new container has taken its place',
  async (t) => {
    const { storage, folder } = await openDisk(t)
    const { containers } = storage
    const place = join(folder, 'containers', CONTAINER.workspaceId, CONTAINER.containerId)
    const limit = new Date(Date.now() - 60_000)
    for (const path of ['deep/new', 'both', 'old']) await putInContainer(storage, path, path)
    utimesSync(join(place, 'old'), limit, limit)
    await onceAtStat(t, () => {
      mkdirSync(place)
      writeFileSync(join(place, 'both'), 'later')
    })
    t.equal(must(await containers.removeContainer(CONTAINER, limit)), 2)
    t.same(
      must(await containers.list(CONTAINER, null, 9)).files.map(({ path }) => path),
      ['both', 'deep/new'],
    )
    t.equal(readFileSync(join(place, 'both'), 'utf8'), 'later')
    t.equal(readFileSync(join(place, 'deep', 'new'), 'utf8'), 'deep/new')
    t.same(await readdir(join(folder, 'trash')), [])
  },
)

/** Runs before the next `fstat` on a handle: a removal makes it first on what it has just moved away. */
async function onceAtStat(t: Parameters<typeof openFolder>[0], run: () => void): Promise<void> {
  const handle = await open('.', 'r')
  const prototype = Object.getPrototypeOf(handle) as { stat: FileHandle['stat'] }
  await handle.close()
  const { stat } = prototype
  const restore = (): void => void (prototype.stat = stat)
  prototype.stat = function watched(this: FileHandle) {
    restore()
    run()
    return this.stat()
  } as FileHandle['stat']
  t.teardown(restore)
}
