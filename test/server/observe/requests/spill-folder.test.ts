import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FIGURES } from '../../../../src/schemas/requests/request-record.ts'
import {
  REQUESTS_JOINED_FILES,
  REQUESTS_ORGANIZATION_SPILLED_MAX,
  REQUESTS_SHARED_FILES,
  REQUESTS_SPILL_FILES_MAX,
  openSpill,
  openSpillWriter,
  spillFolder,
} from '../../../../src/server/observe/requests/spill-folder.ts'
import { batchOfCalls, type EndedCall } from '../../../support/requests/settled-call.ts'
import { NO_MOUNT, tinyDisk } from '../../../support/files/tiny-disk.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { REQUESTS_GATHERED_MAX } from '../../../../src/server/observe/requests/gathered-calls.ts'

async function openFolder(t: Test): Promise<string> {
  const home = temporaryFolder(t, 'requests')
  return spillFolder(home)
}

/** Each instant is another one. */
function clock(): () => number {
  let ms = 0
  return () => ++ms
}

/** As many files of others; the runner leaves them alone. */
async function fill(folder: string, count: number): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const paths = Array.from({ length: count }, (_, n) => join(folder, `other-${n}`))
  await Promise.all(paths.map((path) => writeFile(path, '')))
  return paths
}

t.test('a full disk refuses a batch as a whole, and no part of it is left', { skip: NO_MOUNT }, async (t) => {
  const disk = await tinyDisk(t)
  await writeFile(join(disk, 'filler'), Buffer.alloc(5 * 1024 * 1024)).catch(() => undefined)
  const folder = spillFolder(disk)
  const calls = Array.from({ length: 500 }, () => ({}))
  await t.rejects(openSpillWriter(folder)(batchOfCalls(...calls)), { code: 'ENOSPC' })
  t.same(await readdir(folder), [])
})

t.test(
  `refuses writes when other fronts have REQUESTS_SPILL_FILES_MAX (${REQUESTS_SPILL_FILES_MAX}) files`,
  async (t) => {
    const folder = await openFolder(t)
    const write = openSpillWriter(folder)
    const others = await fill(folder, REQUESTS_SPILL_FILES_MAX)
    t.equal(await write(batchOfCalls({})), 0)
    await rm(others[0] ?? '')
    t.equal(await write(batchOfCalls({})), 1)
    t.equal(await write(batchOfCalls({})), 1, 'joined with the one before')
    t.equal((await readdir(folder)).length, REQUESTS_SPILL_FILES_MAX)
  },
)

t.test('small files are joined, so that single calls leave room for later ones', async (t) => {
  const folder = await openFolder(t)
  const write = openSpillWriter(folder, clock())
  const trickle = 3 * REQUESTS_SPILL_FILES_MAX
  for (let n = 0; n < trickle; n++) t.equal(await write(batchOfCalls({ requestId: `r${n}` })), 1)
  t.equal(await write(batchOfCalls(...Array<EndedCall>(50).fill({ requestId: 'paid' }))), 50)
  const spill = openSpill(folder)
  const names = await spill.list()
  t.ok(names.length <= REQUESTS_JOINED_FILES, `${names.length} files`)
  const ids: string[] = []
  for (const name of names)
    ids.push(...((await spill.read(name)) ?? []).flatMap(({ requestIds }) => requestIds))
  t.same(
    ids.slice(0, trickle),
    Array.from({ length: trickle }, (_, n) => `r${n}`),
    'each once, in their order',
  )
  t.equal(ids.length, trickle + 50)
})

t.test('a file that the runner has taken is not joined with another one', async (t) => {
  const folder = await openFolder(t)
  const write = openSpillWriter(folder)
  const spill = openSpill(folder)
  const others = await fill(folder, REQUESTS_JOINED_FILES)
  await write(batchOfCalls({ requestId: 'a' }))
  const [first = ''] = await spill.list()
  await spill.remove(first)
  await write(batchOfCalls({ requestId: 'b' }))
  t.equal((await readdir(folder)).length, others.length + 1)
  const [second = ''] = await spill.list()
  t.match(await spill.read(second), [{ requestIds: ['b'] }])
  t.same(await spill.read(first), [], 'gone is not damaged')
})

t.test(
  `with REQUESTS_SHARED_FILES (${REQUESTS_SHARED_FILES}) files or more, an organization has room for ` +
    `REQUESTS_ORGANIZATION_SPILLED_MAX (${REQUESTS_ORGANIZATION_SPILLED_MAX}) calls of a front`,
  async (t) => {
    const folder = await openFolder(t)
    const write = openSpillWriter(folder, clock())
    await fill(folder, REQUESTS_SHARED_FILES)
    const flood = Array<EndedCall>(REQUESTS_GATHERED_MAX).fill({ organizationId: 'a' })
    for (let n = 0; n < REQUESTS_ORGANIZATION_SPILLED_MAX; n += flood.length)
      t.equal(await write(batchOfCalls(...flood)), flood.length)
    const last = batchOfCalls(
      { organizationId: 'a', reason: () => ({ message: 'of a' }) },
      { organizationId: 'b', requestId: 'paid', status: 201, reason: () => ({ message: 'of b' }) },
      { organizationId: 'a' },
    )
    t.equal(await write(last), 1)
    const spill = openSpill(folder)
    const kept = (await spill.read((await spill.list()).at(-1) ?? ''))?.at(-1)
    t.same(kept?.requestIds, ['paid'])
    t.same(kept?.figures, last.figures.slice(FIGURES, 2 * FIGURES))
    t.same(kept?.reasons, [[0, 2]], 'the place of the call is another')
    t.equal(await write(batchOfCalls({ organizationId: 'a' })), 0)
    for (const name of await spill.list()) await spill.remove(name)
    t.equal(await write(batchOfCalls({ organizationId: 'a' })), 1, 'what was taken counts no more')
  },
)

t.test('lists batches oldest first, reads them completely, and removes them', async (t) => {
  const folder = await openFolder(t)
  const spill = openSpill(folder)
  t.same(await spill.list(), [], 'also before there is a folder')
  for (const ms of [3, 1, 2]) await openSpillWriter(folder, () => ms)(batchOfCalls({ requestId: `r${ms}` }))
  const names = await spill.list()
  for (const [nth, name] of names.entries())
    t.match(await spill.read(name), [{ requestIds: [`r${nth + 1}`] }])
  for (const name of names) await spill.remove(name)
  t.same(await spill.read(names[0] ?? ''), [])
  t.same(await spill.list(), [])
})

t.test('lists damaged batches, and leaves foreign files alone', async (t) => {
  const folder = await openFolder(t)
  await mkdir(folder, { recursive: true })
  const damaged = '0000000003e8-77.requests'
  await writeFile(join(folder, damaged), 'half')
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const spill = openSpill(folder)
  t.same(await spill.list(), [damaged])
  t.equal(await spill.read(damaged), null)
})

t.test('unfinished files of a dead front are deleted after a minute, and not before', async (t) => {
  const folder = await openFolder(t)
  await mkdir(folder, { recursive: true })
  const draft = '0000000003e8-77.requests.new'
  await writeFile(join(folder, draft), 'half')
  await openSpill(folder, () => 61_000).list()
  t.same(await readdir(folder), [draft])
  await openSpill(folder, () => 61_001).list()
  t.same(await readdir(folder), [])
})

t.test('only the owner may read a batch; a deleted folder is created again', async (t) => {
  const folder = await openFolder(t)
  const write = openSpillWriter(folder)
  await write(batchOfCalls({}))
  const [name = ''] = await readdir(folder)
  t.equal((await stat(folder)).mode & 0o777, 0o700)
  t.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  await rm(folder, { recursive: true })
  await t.rejects(write(batchOfCalls({})))
  t.equal(await write(batchOfCalls({})), 1)
  await chmod(folder, 0o700)
})
