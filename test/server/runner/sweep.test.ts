import { execFileSync } from 'node:child_process'
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  CONTAINER_KEPT_MS,
  ORPHAN_AGE_MS,
  STAGING_IDLE_MS,
  SWEEP_MS,
  SWEEP_UPLOADS_MS,
  UPLOAD_LEASE_MS,
} from '../../../src/schemas/files/file-limits.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../src/schemas/limits/idempotency-limits.ts'
import type { ContainerUses } from '../../../src/server/ports/containers/container-rows.ts'
import type { FileSweep } from '../../../src/server/ports/files/files.ts'
import type { ContainerFolders, ObjectPage, Storage } from '../../../src/server/ports/files/storage.ts'
import {
  sweep,
  type SweepOptions,
  type SweepDeps,
  type SweepReport,
} from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import { begun, FACTS, openFileStand, storedFile, type FileStand } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import type { FakeS3 } from '../../support/files/s3.ts'
import {
  openDescriptors,
  openDisk,
  openS3,
  put,
  putInContainer,
  staged,
} from '../../support/files/storage.ts'
import { failing } from '../../support/files/transfers.ts'

t.setTimeout(600_000)

const NOTHING: SweepReport = {
  uploads: 0,
  expired: 0,
  objects: 0,
  staging_files: 0,
  containers: 0,
  container_files: 0,
  recounted: 0,
  idempotency: 0,
}
const AWAY = { name: 'storage_unavailable' } as const
const STORE_AWAY = { name: 'store_unavailable' } as const

interface SweepStand extends FileStand {
  readonly storage: Storage
  /** Of the driver: below it are `staging` and, on disk, `containers`. */
  readonly folder: string
  readonly s3: FakeS3 | null
  readonly deps: SweepDeps
  /** Sweeps as if it were so many milliseconds later. */
  run(laterMs?: number, more?: Partial<SweepDeps>, options?: SweepOptions): ReturnType<typeof sweep>
}

async function standOn(t: Test, driver: 'disk' | 'S3', leaseMs = -1): Promise<SweepStand> {
  const stand = await openFileStand(t, { leaseMs })
  const opened = driver === 'disk' ? { ...(await openDisk(t)), s3: null } : await openS3(t)
  const deps: SweepDeps = {
    rows: openFileSweep(stand.store),
    uses: openContainerUses(stand.store),
    sizes: openContainerSizes(stand.store),
    storage: opened.storage,
    now: Date.now,
  }
  return {
    ...stand,
    ...opened,
    deps,
    run: (laterMs = 0, more = {}, options = {}) =>
      sweep({ ...deps, now: () => Date.now() + laterMs, ...more }, options),
  }
}

/** One of each kind of what a sweep removes, and next to each what it keeps. */
async function litter({ store, files, storage, workspaceId, folder, open }: SweepStand): Promise<void> {
  const stale = await begun(files, workspaceId, 100)
  await put(storage, stale.id, Buffer.from('stale'))
  const kept = await storedFile(files, workspaceId)
  await put(storage, kept, Buffer.from('kept'))
  await put(storage, 'file_orphan', Buffer.from('orphan'))
  const living = await begun(open({ leaseMs: UPLOAD_LEASE_MS }), workspaceId, 100)
  await put(storage, living.id, Buffer.from('living'))
  await writeFile(join(folder, 'staging', 'left'), 'left')
  const idle = new Date(Date.now() - STAGING_IDLE_MS)
  await utimes(join(folder, 'staging', 'left'), idle, idle)
  await writeFile(join(folder, 'staging', 'young'), 'young')
  await putInContainer(storage, 'a', 'a', { workspaceId, containerId: 'sess_old' })
  await putInContainer(storage, 'b/c', 'c', { workspaceId, containerId: 'sess_old' })
  const keyed = must(
    await files.begin({
      workspaceId,
      reserveBytes: 1,
      idempotency: { key: 'k', apiKeyHash: 'h', requestDigest: 'd' },
    }),
  )
  if (keyed.kind !== 'new') throw new Error('not new')
  must(await files.commit(keyed.upload, FACTS))
  must(await files.remove(workspaceId, keyed.upload.id))
  await store.sql`UPDATE files SET ready_at = ready_at - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms' WHERE id = ${keyed.upload.id}`
}

async function objectsOf({ storage }: Pick<SweepStand, 'storage'>): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | null = null; ;) {
    const page: ObjectPage = must(await storage.list(cursor))
    ids.push(...page.objects.map(({ objectId }) => objectId))
    cursor = page.cursor
    if (cursor === null) return ids.sort()
  }
}

for (const driver of ['disk', 'S3'] as const) {
  t.test(`${driver}: one sweep removes each kind of litter, and nothing beside it`, async (t) => {
    const stand = await standOn(t, driver)
    await litter(stand)
    const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000)
    t.same(failures, [])
    t.same(report, {
      uploads: 1,
      expired: 0,
      objects: 1,
      staging_files: 1,
      containers: 1,
      container_files: 2,
      recounted: 0,
      idempotency: 1,
    })
    const rows = await stand.store.sql<{ id: string; state: string }[]>`SELECT id, state FROM files`
    t.same(rows.map(({ state }) => state).sort(), ['pending', 'ready'])
    t.same(await objectsOf(stand), rows.map(({ id }) => id).sort())
    t.same(await readdir(join(stand.folder, 'staging')), ['young'])
    t.same(await stand.run(CONTAINER_KEPT_MS + 1_000), { report: NOTHING, failures: [] })
  })

  t.test(`${driver}: a look for uploads that nobody will finish lists nothing of storage`, async (t) => {
    const stand = await standOn(t, driver)
    await litter(stand)
    const listed = async () => Promise.reject(new Error('it lists'))
    const { storage } = stand
    const blind = {
      ...storage,
      list: listed,
      sweepStaging: listed,
      containers: { ...storage.containers, listContainers: listed },
    }
    t.same(await stand.run(0, { storage: blind }, { isUploadsOnly: true }), {
      report: { ...NOTHING, uploads: 1 },
      failures: [],
    })
  })

  t.test(`${driver}: an object without a row is removed at ORPHAN_AGE_MS and not before`, async (t) => {
    const stand = await standOn(t, driver)
    await put(stand.storage, 'file_orphan', Buffer.from('orphan'))
    t.equal((await stand.run(ORPHAN_AGE_MS - 60_000)).report.objects, 0)
    t.equal((await stand.run(ORPHAN_AGE_MS)).report.objects, 1)
    await put(stand.storage, 'file_young', Buffer.from('young'))
    t.equal(
      (await stand.run(2_000, {}, { orphanAgeMs: 0 })).report.objects,
      1,
      'an operator may say otherwise',
    )
  })

  t.test(
    `${driver}: a container goes at CONTAINER_KEPT_MS after its last use and its newest change, and not before`,
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

  t.test(`${driver}: a use while the sweep looks keeps the container`, async (t) => {
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

  t.test(`${driver}: two sweeps at once remove everything once`, async (t) => {
    const stand = await standOn(t, driver)
    await litter(stand)
    const both = await Promise.all([
      stand.run(CONTAINER_KEPT_MS + 1_000),
      stand.run(CONTAINER_KEPT_MS + 1_000),
    ])
    t.same(
      both.flatMap(({ failures }) => failures),
      [],
    )
    t.equal(both[0].report.uploads + both[1].report.uploads, 1)
    t.equal((await objectsOf(stand)).length, 2)
    t.equal(must(await stand.storage.containers.listContainers(null)).containers.length, 0)
    t.same(await stand.run(CONTAINER_KEPT_MS + 1_000), { report: NOTHING, failures: [] })
  })

  const storageCalls: readonly (readonly [string, (storage: Storage) => Storage, keyof SweepReport])[] = [
    ['remove', (storage) => failing(storage, 'remove', AWAY), 'uploads'],
    ['list', (storage) => failing(storage, 'list', AWAY), 'objects'],
    ['stagingOwners', (storage) => failing(storage, 'stagingOwners', AWAY), 'staging_files'],
    ['sweepStaging', (storage) => failing(storage, 'sweepStaging', AWAY), 'staging_files'],
    ...(['listContainers', 'newestChange', 'removeContainer'] satisfies (keyof ContainerFolders)[]).map(
      (call) =>
        [
          `containers.${call}`,
          (storage: Storage) => ({ ...storage, containers: failing(storage.containers, call, AWAY) }),
          'containers',
        ] as const,
    ),
  ]
  for (const [call, broken, count] of storageCalls) {
    t.test(
      `${driver}: when storage fails at ${call} it is told, the other steps run, and the next sweep does the rest`,
      async (t) => {
        const stand = await standOn(t, driver)
        await litter(stand)
        const first = await stand.run(CONTAINER_KEPT_MS + 1_000, { storage: broken(stand.storage) })
        t.match(first.failures, call === 'remove' ? [AWAY, AWAY] : [AWAY])
        t.equal(first.report[count], 0)
        t.equal(first.report.idempotency, 1)
        await stand.store.sql`UPDATE files SET lease_until = '-infinity' WHERE state = 'abandoned'`
        const second = await stand.run(CONTAINER_KEPT_MS + 1_000)
        t.same(second.failures, [])
        t.ok(second.report[count] > 0)
        t.same(await stand.run(CONTAINER_KEPT_MS + 1_000), { report: NOTHING, failures: [] })
      },
    )
  }

  const rowCalls: readonly (readonly [string, (deps: SweepDeps) => Partial<SweepDeps>, keyof SweepReport])[] =
    [
      ...(
        [
          ['claimStale', 'uploads'],
          ['forget', 'uploads'],
          ['goneFronts', 'staging_files'],
          ['withoutRow', 'objects'],
          ['expire', 'idempotency'],
        ] satisfies [keyof FileSweep, keyof SweepReport][]
      ).map(
        ([call, count]) =>
          [call, ({ rows }: SweepDeps) => ({ rows: failing(rows, call, STORE_AWAY) }), count] as const,
      ),
      ...(['lastUses', 'removal'] satisfies (keyof ContainerUses)[]).map(
        (call) =>
          [
            `uses.${call}`,
            ({ uses }: SweepDeps) => ({ uses: failing(uses, call, STORE_AWAY) }),
            'containers',
          ] as const,
      ),
    ]
  for (const [call, broken, count] of rowCalls) {
    t.test(
      `${driver}: when the store fails at ${call} it is told, the other steps run, and the next sweep does the rest`,
      async (t) => {
        const stand = await standOn(t, driver)
        await litter(stand)
        const first = await stand.run(CONTAINER_KEPT_MS + 1_000, broken(stand.deps))
        t.match(first.failures, [STORE_AWAY])
        t.equal(first.failures.length, 1)
        t.equal(first.report[count], 0)
        await stand.store.sql`UPDATE files SET lease_until = '-infinity' WHERE state = 'abandoned'`
        const second = await stand.run(CONTAINER_KEPT_MS + 1_000)
        t.same(second.failures, [])
        t.equal(second.report[count], 1)
      },
    )
  }

  t.test(`${driver}: a thing that storage refuses alone does not keep the others`, async (t) => {
    const stand = await standOn(t, driver)
    const { storage, workspaceId } = stand
    for (const nth of [1, 2, 3]) {
      await put(storage, `file_${nth}`, Buffer.from('orphan'))
      await putInContainer(storage, 'a', 'a', { workspaceId, containerId: `sess_${nth}` })
    }
    const stuck: Storage = {
      ...storage,
      remove: (id) => (id === 'file_1' ? Promise.resolve({ ok: false, failure: AWAY }) : storage.remove(id)),
      containers: {
        ...storage.containers,
        removeContainer: (container, since) =>
          container.containerId === 'sess_1'
            ? Promise.resolve({ ok: false, failure: AWAY })
            : storage.containers.removeContainer(container, since),
      },
    }
    const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000, { storage: stuck })
    t.match(report, { objects: 2, containers: 2 })
    t.match(failures, [AWAY, AWAY])
  })

  t.test(
    `${driver}: a sweep that is to end stops before the next thing, and the next one does the rest`,
    async (t) => {
      const stand = await standOn(t, driver)
      for (const nth of [1, 2, 3, 4]) await put(stand.storage, `file_${nth}`, Buffer.from('orphan'))
      await putInContainer(stand.storage, 'a', 'a', { workspaceId: stand.workspaceId, containerId: 'sess_a' })
      let removed = 0
      const storage: Storage = { ...stand.storage, remove: (id) => (removed++, stand.storage.remove(id)) }
      const first = await stand.run(CONTAINER_KEPT_MS + 1_000, { storage, isEnding: () => removed >= 2 })
      t.same(first, { report: { ...NOTHING, objects: 2 }, failures: [] })
      t.match((await stand.run(CONTAINER_KEPT_MS + 1_000)).report, { objects: 2, containers: 1 })
    },
  )
}

/** Gives a container file another time of change. */
async function age({ folder, s3, workspaceId }: SweepStand, path: string, at: Date): Promise<void> {
  const place = `containers/${workspaceId}/sess_a/${path}`
  if (s3 === null) return utimes(join(folder, place), at, at)
  const stored = s3.objects.get(`node/${place}`)
  if (stored !== undefined) s3.objects.set(`node/${place}`, { ...stored, changedAt: at })
}

t.test('more stale uploads than one claim takes are all swept', async (t) => {
  const stand = await standOn(t, 'disk')
  for (let nth = 0; nth < 130; nth++) await begun(stand.files, stand.workspaceId, 10)
  t.equal((await stand.run()).report.uploads, 130)
  t.equal(must(await stand.files.usage(stand.workspaceId)).reservedBytes, 0)
})

t.test('uploads that storage never lets go end the step instead of turning for ever', async (t) => {
  const stand = await standOn(t, 'disk')
  for (let nth = 0; nth < 101; nth++) await begun(stand.files, stand.workspaceId, 10)
  const { report, failures } = await stand.run(0, { storage: failing(stand.storage, 'remove', AWAY) })
  t.equal(report.uploads, 0)
  t.match(failures, [AWAY])
})

t.test(
  'S3: listings of many pages are swept to their end, with containers whose ids sort around the slash',
  async (t) => {
    const stand = await standOn(t, 'S3')
    const { storage, workspaceId, s3 } = stand
    if (s3 === null) throw new Error('not S3')
    s3.pageMax = 3
    for (let nth = 0; nth < 10; nth++) await put(storage, `file_${nth}`, Buffer.from('orphan'))
    const ids = ['sess_a', 'sess_a-', 'sess_a-b', 'sess_a0', 'sess_aa', 'gen_a', 'x']
    for (const containerId of ids) {
      for (let nth = 0; nth < 7; nth++)
        await putInContainer(storage, `f/${nth}`, 'f', { workspaceId, containerId })
    }
    const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000)
    t.same(failures, [])
    t.match(report, { objects: 10, containers: ids.length, container_files: ids.length * 7 })
    t.equal(s3.objects.size, 0)
  },
)

t.test('S3: an answer that is lost leaves the rest to the next sweep, whichever call it was', async (t) => {
  for (const call of ['list', 'head', 'delete'] as const) {
    const stand = await standOn(t, 'S3')
    await litter(stand)
    stand.s3?.failNext(call, 'error', 'lost', 'error', 'reset')
    const first = await stand.run(CONTAINER_KEPT_MS + 1_000)
    t.match(first.failures, [AWAY], call)
    await stand.store.sql`UPDATE files SET lease_until = '-infinity' WHERE state = 'abandoned'`
    t.same((await stand.run(CONTAINER_KEPT_MS + 1_000)).failures, [])
    t.same(await stand.run(CONTAINER_KEPT_MS + 1_000), { report: NOTHING, failures: [] })
  }
})

t.test('disk: the folder that a sandbox was just given is kept while it is empty', async (t) => {
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

t.test('disk: a folder in the place of staging files is left alone', async (t) => {
  const stand = await standOn(t, 'disk')
  const staging = join(stand.folder, 'staging')
  await mkdir(join(staging, 'folder'))
  const idle = new Date(Date.now() - STAGING_IDLE_MS)
  await utimes(join(staging, 'folder'), idle, idle)
  const { discard, path } = await staged(stand.storage, Buffer.from('under way'))
  await utimes(path, idle, idle)
  t.same(await stand.run(), { report: NOTHING, failures: [] })
  t.equal((await readdir(staging)).length, 2)
  await discard()
})

t.test('disk: what cannot be removed keeps nothing else from being removed', async (t) => {
  const stand = await standOn(t, 'disk')
  const { storage, workspaceId, folder } = stand
  for (const nth of [1, 2, 3])
    await putInContainer(storage, 'a', 'a', { workspaceId, containerId: `sess_${nth}` })
  const stuck = join(folder, 'containers', workspaceId, 'sess_1', 'stuck')
  await mkdir(stuck)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', stuck], { stdio: 'ignore' })
  } catch {
    t.comment('no file system may be mounted here: nothing was shown')
    return
  }
  const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000)
  const [left] = await readdir(join(folder, 'trash'))
  execFileSync('umount', ['-l', join(folder, 'trash', left ?? '', 'stuck')])
  t.equal(report.containers, 2)
  t.match(failures, [AWAY])
  t.same(await readdir(join(folder, 'trash', left ?? '')), ['stuck'])
  t.same((await stand.run()).failures, [])
  t.same(await readdir(join(folder, 'trash')), [left], 'somebody may be at it still')
  must(await storage.containers.emptyTrash(0))
  t.same(await readdir(join(folder, 'trash')), [])
})

t.test(
  'disk: folders of any depth are removed, a few open at a time, and so is the container after them',
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

t.test('sweeps come more often than anything that they remove grows old', async (t) => {
  for (const age of [ORPHAN_AGE_MS, STAGING_IDLE_MS, CONTAINER_KEPT_MS, IDEMPOTENCY_KEPT_MS])
    t.ok(SWEEP_MS <= age)
  t.ok(SWEEP_UPLOADS_MS * 10 <= SWEEP_MS)
})
