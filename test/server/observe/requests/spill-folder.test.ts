import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { REQUESTS_SPILL_FILES_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import {
  openSpill,
  openSpillWriter,
  spillFolder,
} from '../../../../src/server/observe/requests/spill-folder.ts'
import { batchOfCalls } from '../../../support/requests/settled-call.ts'
import { NO_MOUNT, tinyDisk } from '../../../support/files/tiny-disk.ts'

async function openFolder(t: Test): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-requests-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  return spillFolder(home)
}

t.test('a full disk refuses a batch whole, and leaves no part of it', { skip: NO_MOUNT }, async (t) => {
  const disk = await tinyDisk(t)
  await writeFile(join(disk, 'filler'), Buffer.alloc(5 * 1024 * 1024)).catch(() => undefined)
  const folder = spillFolder(disk)
  const calls = Array.from({ length: 500 }, () => ({}))
  await t.rejects(openSpillWriter(folder)(batchOfCalls(...calls)), { code: 'ENOSPC' })
  t.same(await readdir(folder), [])
})

t.test(
  `beyond REQUESTS_SPILL_FILES_MAX (${REQUESTS_SPILL_FILES_MAX}) batches there is no room`,
  async (t) => {
    const folder = await openFolder(t)
    const write = openSpillWriter(folder)
    for (let n = 0; n < REQUESTS_SPILL_FILES_MAX; n++) t.ok(await write(batchOfCalls({})), String(n))
    t.notOk(await write(batchOfCalls({})))
    const spill = openSpill(folder)
    const [first = ''] = await spill.list()
    await spill.remove(first)
    t.ok(await write(batchOfCalls({})))
  },
)

t.test('batches are found oldest first, read whole, and gone once they are removed', async (t) => {
  const folder = await openFolder(t)
  const spill = openSpill(folder)
  t.same(await spill.list(), [], 'also before there is a folder')
  for (const ms of [3, 1, 2]) await openSpillWriter(folder, () => ms)(batchOfCalls({ requestId: `r${ms}` }))
  const names = await spill.list()
  const read = await Promise.all(names.map((name) => spill.read(name)))
  t.same(
    read.map((batch) => batch?.requestIds),
    [['r1'], ['r2'], ['r3']],
  )
  for (const name of names) await spill.remove(name)
  t.equal(await spill.read(names[0] ?? ''), null)
  t.same(await spill.list(), [])
})

t.test('damaged batches are told from whole ones, and foreign files are left alone', async (t) => {
  const folder = await openFolder(t)
  await mkdir(folder, { recursive: true })
  const damaged = '0000000003e8-77.requests'
  await writeFile(join(folder, damaged), 'half')
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const spill = openSpill(folder)
  t.same(await spill.list(), [damaged])
  t.equal(await spill.read(damaged), null)
})

t.test('what a dead front did not complete goes after a minute, and not before', async (t) => {
  const folder = await openFolder(t)
  await mkdir(folder, { recursive: true })
  const draft = '0000000003e8-77.requests.new'
  await writeFile(join(folder, draft), 'half')
  await openSpill(folder, () => 61_000).list()
  t.same(await readdir(folder), [draft])
  await openSpill(folder, () => 61_001).list()
  t.same(await readdir(folder), [])
})

t.test('nobody else may read a batch; a folder that went is made again', async (t) => {
  const folder = await openFolder(t)
  const write = openSpillWriter(folder)
  await write(batchOfCalls({}))
  const [name = ''] = await readdir(folder)
  t.equal((await stat(folder)).mode & 0o777, 0o700)
  t.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  await rm(folder, { recursive: true })
  await t.rejects(write(batchOfCalls({})))
  t.ok(await write(batchOfCalls({})))
  await chmod(folder, 0o700)
})
