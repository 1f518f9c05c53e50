import { execFileSync } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { CONTAINER_KEPT_MS } from '../../../src/schemas/files/file-limits.ts'
import type { ContainerUses } from '../../../src/server/ports/containers/container-rows.ts'
import type { FileSweep } from '../../../src/server/ports/files/files.ts'
import type { ContainerFolders, Storage } from '../../../src/server/ports/files/storage.ts'
import type { SweepDeps, SweepReport } from '../../../src/server/runner/sweep.ts'
import { begun } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { put, putInContainer } from '../../support/files/storage.ts'
import { failing } from '../../support/files/transfers.ts'
import { AWAY, litter, NOTHING, standOn } from '../../support/files/sweeps.ts'
import { NO_MOUNT } from '../../support/files/tiny-disk.ts'

t.setTimeout(600_000)

const STORE_AWAY = { name: 'store_unavailable' } as const

for (const driver of ['disk', 'S3'] as const) {
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
      `${driver}: when storage fails at ${call}, reports it, runs the other steps, and the next sweep does the rest`,
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
      `${driver}: when the store fails at ${call}, reports it, runs the other steps, and the next sweep does the rest`,
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

  t.test(`${driver}: an object that storage refuses does not stop the removal of others`, async (t) => {
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
}

t.test('when storage never removes the uploads, the step ends instead of looping forever', async (t) => {
  const stand = await standOn(t, 'disk')
  for (let nth = 0; nth < 101; nth++) await begun(stand.files, stand.workspaceId, 10)
  const { report, failures } = await stand.run(0, { storage: failing(stand.storage, 'remove', AWAY) })
  t.equal(report.uploads, 0)
  t.match(failures, [AWAY])
})

t.test('S3: after a lost answer to any call, the next sweep does the rest', async (t) => {
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

t.test(
  'disk: a folder that cannot be removed does not stop the removal of others',
  { skip: NO_MOUNT },
  async (t) => {
    const stand = await standOn(t, 'disk')
    const { storage, workspaceId, folder } = stand
    for (const nth of [1, 2, 3])
      await putInContainer(storage, 'a', 'a', { workspaceId, containerId: `sess_${nth}` })
    const stuck = join(folder, 'containers', workspaceId, 'sess_1', 'stuck')
    await mkdir(stuck)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', stuck], { stdio: 'ignore' })
    const { report, failures } = await stand.run(CONTAINER_KEPT_MS + 1_000)
    const [left] = await readdir(join(folder, 'trash'))
    execFileSync('umount', ['-l', join(folder, 'trash', left ?? '', 'stuck')])
    t.equal(report.containers, 2)
    t.match(failures, [AWAY])
    t.same(await readdir(join(folder, 'trash', left ?? '')), ['stuck'])
    t.same((await stand.run()).failures, [])
    t.same(await readdir(join(folder, 'trash')), [left], 'it may still be in use')
    must(await storage.containers.emptyTrash(0))
    t.same(await readdir(join(folder, 'trash')), [])
  },
)
