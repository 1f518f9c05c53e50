import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { CONTAINER_KEPT_MS } from '../../../src/schemas/files/file-limits.ts'
import type { ContainerUses } from '../../../src/server/ports/containers/container-rows.ts'
import { must } from '../../support/must.ts'
import { openDescriptors, putInContainer } from '../../support/files/storage.ts'
import { standOn, type SweepStand } from '../../support/files/sweeps.ts'

t.setTimeout(600_000)

for (const driver of ['disk', 'S3'] as const) {
  t.test(
    `${driver}: a container is removed CONTAINER_KEPT_MS after its last use and its newest change, and not before`,
    async (t) => {
      const stand = await standOn(t, driver)
      const { workspaceId, storage, deps, store } = stand
      const container = { workspaceId, containerId: 'sess_a' }
      await putInContainer(storage, 'a', 'a', container)
      t.equal((await stand.run(CONTAINER_KEPT_MS - 60_000)).report.containers, 0, 'a new file keeps it')
      must(await deps.uses.touch(workspaceId, 'sess_a'))
      await store.sql`UPDATE container_uses SET used_at = used_at + interval '1 hour'`
      t.equal((await stand.run(CONTAINER_KEPT_MS + 1_800_000)).report.containers, 0, 'a use keeps it')
      t.equal(must(await storage.containers.list(container, null, 9)).files.length, 1)
      t.match((await stand.run(CONTAINER_KEPT_MS + 3_610_000)).report, { containers: 1, container_files: 1 })
      t.same(await store.sql`SELECT 1 FROM container_uses`, [])
    },
  )

  t.test(`${driver}: a container that is used during the sweep is kept`, async (t) => {
    const stand = await standOn(t, driver)
    const {
      workspaceId,
      storage,
      deps: { uses },
      store,
    } = stand
    const container = { workspaceId, containerId: 'sess_a' }
    await putInContainer(storage, 'a', 'a', container)
    const containers = {
      ...storage.containers,
      async newestChange(asked: typeof container) {
        const newest = await storage.containers.newestChange(asked)
        must(await uses.touch(workspaceId, 'sess_a'))
        await store.sql`UPDATE container_uses SET used_at = used_at + ${CONTAINER_KEPT_MS} * interval '1 ms'`
        return newest
      },
    }
    t.equal(
      (await stand.run(CONTAINER_KEPT_MS + 1_000, { storage: { ...storage, containers } })).report.containers,
      0,
    )
    t.equal(must(await storage.containers.list(container, null, 9)).files.length, 1)
  })

  t.test(`${driver}: a file that is written while its old container is being removed stays`, async (t) => {
    const stand = await standOn(t, driver)
    const {
      workspaceId,
      storage,
      deps: { uses },
    } = stand
    const container = { workspaceId, containerId: 'sess_a' }
    await putInContainer(storage, 'a', 'a', container)
    const later = new Date(Date.now() + CONTAINER_KEPT_MS + 10_000)
    const meanwhile: ContainerUses = {
      ...uses,
      removal: (asked, since, remove) =>
        uses.removal(asked, since, async () => {
          await putInContainer(storage, 'new', 'new', container)
          await age(stand, 'new', later)
          return remove()
        }),
    }
    must(await storage.containers.list(container, null, 9))
    await stand.run(CONTAINER_KEPT_MS + 5_000, { uses: meanwhile })
    t.ok(must(await storage.containers.list(container, null, 9)).files.some(({ path }) => path === 'new'))
  })
}

/** Gives a container file another time of change. */
async function age({ folder, s3, workspaceId }: SweepStand, path: string, at: Date): Promise<void> {
  const place = `containers/${workspaceId}/sess_a/${path}`
  if (s3 === null) return utimes(join(folder, place), at, at)
  const stored = s3.objects.get(`node/${place}`)
  if (stored !== undefined) s3.objects.set(`node/${place}`, { ...stored, changedAt: at })
}

t.test('disk: an empty folder that was just created for a sandbox is kept', async (t) => {
  const stand = await standOn(t, 'disk')
  const place = join(stand.folder, 'containers', stand.workspaceId, 'sess_new')
  await mkdir(place, { recursive: true })
  t.equal((await stand.run()).report.containers, 0)
  t.same(await readdir(join(place, '..')), ['sess_new'])
  t.match((await stand.run(CONTAINER_KEPT_MS + 1_000)).report, { containers: 1, container_files: 0 })
})

t.test('disk: links out of a container are removed and never followed', async (t) => {
  const stand = await standOn(t, 'disk')
  const { storage, workspaceId, folder } = stand
  await putInContainer(storage, 'a', 'a', { workspaceId, containerId: 'sess_a' })
  const outside = join(folder, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'kept'), 'kept')
  const place = join(folder, 'containers', workspaceId)
  await symlink(outside, join(place, 'sess_a', 'out'))
  await symlink(outside, join(place, 'sess_link'))
  await stand.run(CONTAINER_KEPT_MS + 1_000)
  t.same(await readdir(outside), ['kept'])
  t.notOk((await readdir(place)).includes('sess_a'))
})

t.test(
  'disk: folders of any depth are removed with the container, and only a few are open at a time',
  async (t) => {
    const stand = await standOn(t, 'disk')
    const { storage, workspaceId, folder } = stand
    const place = join(folder, 'containers', workspaceId, 'sess_a')
    await mkdir(join(place, ...Array.from({ length: 800 }, () => 'd')), { recursive: true })
    await writeFile(join(place, ...Array.from({ length: 700 }, () => 'd'), 'leaf'), 'x')
    await putInContainer(storage, 'a', 'a', { workspaceId, containerId: 'sess_b' })
    const before = await openDescriptors()
    let most = 0
    const watch = setInterval(() => void openDescriptors().then((count) => (most = Math.max(most, count))), 1)
    const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000)
    clearInterval(watch)
    t.same(failures, [])
    t.match(report, { containers: 2, container_files: 2 })
    t.ok(most < before + 150, `${most} descriptors`)
    t.same(await readdir(join(folder, 'trash')), [])
  },
)
