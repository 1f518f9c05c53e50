import { mkdir, readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { CONTAINER_KEPT_MS, SWEEP_MS, SWEEP_UPLOADS_MS } from '../../../src/schemas/files/file-limits.ts'
import { fail } from '../../../src/schemas/failures.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../src/schemas/limits/idempotency-limits.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { begun } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { put, putInContainer, staged } from '../../support/files/storage.ts'
import { litter, NOTHING, objectsOf, standOn } from '../../support/files/sweeps.ts'
import { ORPHAN_AGE_MS, STAGING_IDLE_MS } from '../../../src/server/runner/sweep.ts'

t.setTimeout(600_000)

for (const driver of ['disk', 'S3'] as const) {
  t.test(`${driver}: one sweep removes each kind of litter, and nothing else`, async (t) => {
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

  t.test(`${driver}: a sweep of only abandoned uploads lists no objects in storage`, async (t) => {
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

  t.test(`${driver}: keeps objects without a row in the storage of another installation`, async (t) => {
    const stand = await standOn(t, driver)
    await litter(stand)
    const later = CONTAINER_KEPT_MS + 1_000
    const ofAnother = {
      checkPlace: () => Promise.resolve(fail('storage_unavailable', { detail: 'Of another.' })),
    }
    t.match(await stand.run(later, ofAnother), {
      report: { uploads: 1, objects: 0, staging_files: 0, containers: 0, container_files: 0, idempotency: 1 },
      failures: [{ detail: 'Of another.' }],
    })
    t.match(
      (await stand.run(later)).report,
      { objects: 1, staging_files: 1, containers: 1 },
      'else it would go',
    )
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

  t.test(
    `${driver}: an ending sweep stops before the next object, and the next sweep does the rest`,
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

t.test('stale uploads are all swept, even if they are more than one claim takes', async (t) => {
  const stand = await standOn(t, 'disk')
  for (let nth = 0; nth < 130; nth++) await begun(stand.files, stand.workspaceId, 10)
  t.equal((await stand.run()).report.uploads, 130)
  t.equal(must(await stand.files.usage(stand.workspaceId)).reservedBytes, 0)
})

t.test('S3: processes listings of many pages in full, with ids that sort around the slash', async (t) => {
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
})

t.test('disk: a folder among the staging files is left alone', async (t) => {
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

t.test('sweeps run at least as often as anything that they remove expires', async (t) => {
  for (const age of [ORPHAN_AGE_MS, STAGING_IDLE_MS, CONTAINER_KEPT_MS, IDEMPOTENCY_KEPT_MS])
    t.ok(SWEEP_MS <= age)
  t.ok(SWEEP_UPLOADS_MS * 10 <= SWEEP_MS)
})
