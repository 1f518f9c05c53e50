import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { COUNTED_BYTES_MIN } from '../../../src/schemas/files/file-limits.ts'
import type { ContainerFolders } from '../../../src/server/ports/files/storage.ts'
import { sweep, type SweepOptions } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import type { FilesOptions } from '../../../src/server/store/files/files.ts'
import { begun } from '../../support/files/files.ts'
import { must } from '../../support/must.ts'
import { openDisk, openS3, putInContainer } from '../../support/files/storage.ts'
import {
  failing,
  inContainer,
  openTransfers,
  type TransferOptions,
  type TransferStand,
} from '../../support/files/transfers.ts'
import {
  answerOf,
  beginUpload,
  chunkOf,
  filePart,
  form,
  sendForm,
  type Answer,
} from '../../support/files/upload-echo.ts'
import { until } from '../../support/wait.ts'
import { OWN_PLACE } from '../../support/files/sweeps.ts'

t.setTimeout(600_000)

interface QuotaStand extends TransferStand {
  readonly folder: string
}

async function standOn(t: Test, driver: 'disk' | 'S3', options: TransferOptions = {}): Promise<QuotaStand> {
  const { storage, folder } = driver === 'disk' ? await openDisk(t) : await openS3(t)
  return { ...(await openTransfers(t, { storage, ...options })), folder }
}

async function write(stand: TransferStand, name: string, content: string): Promise<Answer> {
  const client = beginUpload(stand.port, content.length, { method: 'PUT', path: `/write/${name}` })
  client.send(content)
  return answerOf(client)
}

async function writeInChunks(stand: TransferStand, name: string, content: string): Promise<Answer> {
  const client = beginUpload(stand.port, null, { method: 'PUT', path: `/write/${name}` })
  client.send(chunkOf(Buffer.from(content)))
  client.send(chunkOf(Buffer.alloc(0)))
  return answerOf(client)
}

function swept(
  stand: TransferStand,
  options: SweepOptions = { recountAgeMs: 0 },
  laterMs = 0,
): ReturnType<typeof sweep> {
  const { store, storage, sweep: rows } = stand
  const now = () => Date.now() + laterMs
  return sweep(
    {
      rows,
      uses: openContainerUses(store),
      sizes: openContainerSizes(store),
      storage,
      checkPlace: OWN_PLACE,
      now,
    },
    options,
  )
}

/** Bytes of all files that lie in the container. */
async function lying({ storage, workspaceId }: TransferStand): Promise<number> {
  const { files } = must(await storage.containers.list(inContainer(workspaceId, 'a').container, null, 1_000))
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}

async function used({
  files,
  workspaceId,
}: TransferStand): Promise<readonly [used: number, reserved: number]> {
  const { usedBytes, reservedBytes } = must(await files.usage(workspaceId))
  return [usedBytes, reservedBytes]
}

/** Replaces one call of the container folders. */
function withPublish(
  publish: (
    inner: ContainerFolders,
    ...asked: Parameters<ContainerFolders['publish']>
  ) => ReturnType<ContainerFolders['publish']>,
) {
  const wrap: TransferOptions['wrap'] = (parts) => {
    const { containers } = parts.storage
    return {
      ...parts,
      storage: {
        ...parts.storage,
        containers: { ...containers, publish: (...asked) => publish(containers, ...asked) },
      },
    }
  }
  return wrap
}

function statuses(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { status, type } of answers) counts[type ?? status] = (counts[type ?? status] ?? 0) + 1
  return counts
}

/** What `out` and the container's own folder count. */
const FOLDERS = 2 * COUNTED_BYTES_MIN

const files = (quotaBytes: number): Partial<FilesOptions> => ({ quotaBytes })

for (const driver of ['disk', 'S3'] as const) {
  t.test(`of 40 concurrent container writes with quota for 8, exactly 8 succeed (${driver})`, async (t) => {
    // Racers wait for each other to claim: what they hold for folders must not decide who fits.
    const stand = await standOn(t, driver, { files: { ...files(80_000 + FOLDERS), quotaWaitMs: 300_000 } })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, nth) => write(stand, `n${nth}`, 'x'.repeat(10_000))),
    )
    t.same(statuses(answers), { 200: 8, quota_exceeded: 32 })
    t.same(await used(stand), [80_000 + FOLDERS, 0])
    t.equal(await lying(stand), 80_000)
  })

  t.test(`concurrent uploads and container writes share one quota (${driver})`, async (t) => {
    const stand = await standOn(t, driver, { files: { ...files(100_000 + FOLDERS), quotaWaitMs: 300_000 } })
    const body = form([filePart('x'.repeat(10_000))])
    const content = 'x'.repeat(10_000)
    const ways = [
      () => sendForm(stand.port, body),
      (name: string) => write(stand, name, content),
      (name: string) => writeInChunks(stand, name, content),
    ]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => ways.map((way, kind) => way(`n${nth}-${kind}`))).flat(),
    )
    t.same(statuses(answers), { 200: 10, quota_exceeded: 20 })
    const inContainers = await lying(stand)
    t.same(await used(stand), [100_000 + (inContainers > 0 ? FOLDERS : 0), 0])
    t.equal(inContainers + (await stand.census()).ready * 10_000, 100_000)
  })

  t.test(
    `a path counts the size of its file after every replacement, but at least the minimum (${driver})`,
    async (t) => {
      const stand = await standOn(t, driver)
      for (const sizeBytes of [5_000, 9_000, 9_000, 4_097, 20, 0, 7_000]) {
        t.match(await write(stand, 'a', 'x'.repeat(sizeBytes)), { status: 200 })
        t.same(await used(stand), [Math.max(sizeBytes, COUNTED_BYTES_MIN) + FOLDERS, 0])
      }
    },
  )

  t.test(`concurrent writes to one path are all stored, and the last one counts (${driver})`, async (t) => {
    const stand = await standOn(t, driver, { files: { containerWaitMs: 60_000 } })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => write(stand, 'a', 'x'.repeat(10_000 * (nth + 1)))),
    )
    t.same(statuses(answers), { 200: 12 })
    t.same(await used(stand), [(await lying(stand)) + FOLDERS, 0])
  })

  t.test(`removing a container after 30 days frees exactly the bytes it used (${driver})`, async (t) => {
    const stand = await standOn(t, driver)
    await sendForm(stand.port, form([filePart('x'.repeat(10_000))]))
    for (const name of ['a', 'b', 'c']) await write(stand, name, 'x'.repeat(7_000))
    t.same(await used(stand), [31_000 + FOLDERS, 0])
    const { report, failures } = await swept(stand, {}, 31 * 86_400_000)
    t.same(failures, [])
    t.match(report, { containers: 1, container_files: 3 })
    t.same(await used(stand), [10_000, 0])
    t.same(await stand.store.sql`SELECT 1 FROM container_files`, [])
  })

  t.test(
    `a write that ends before its file exists, or before it is counted, is counted by the sweep (${driver})`,
    async (t) => {
      for (const point of ['claimed', 'published'] as const) {
        const stand = await standOn(t, driver, {
          wrap: withPublish(async (inner, ...asked) => {
            if (point === 'published') must(await inner.publish(...asked))
            return { ok: false, failure: { name: 'storage_unavailable' } }
          }),
        })
        t.match(await write(stand, 'a', 'x'.repeat(6_000)), { status: 503 })
        t.same(await used(stand), [6_000 + FOLDERS, 0], `${point}: counted until a look`)
        t.match(await swept(stand, { isUploadsOnly: true }), {
          failures: [],
          report: { recounted: point === 'claimed' ? 1 : 0 },
        })
        t.same(await used(stand), [point === 'claimed' ? 0 : 6_000 + FOLDERS, 0], point)
      }
    },
  )
}

t.test('a write that ends after claiming its path keeps it for a lease, and its file counts', async (t) => {
  for (const isPublished of [false, true]) {
    const stand = await standOn(t, 'disk', { files: { containerWaitMs: 0 } })
    const upload = await begun(stand.files, stand.workspaceId, 30_000)
    must(
      await stand.files.claimPath(upload, {
        containerId: 'sess_abc',
        path: 'out/a.txt',
        sizeBytes: 30_000,
      }),
    )
    if (isPublished)
      await putInContainer(
        stand.storage,
        'out/a.txt',
        'x'.repeat(30_000),
        inContainer(stand.workspaceId, 'a').container,
      )
    t.match(await write(stand, 'a', 'x'), { status: 503, type: 'busy' })
    t.match(await swept(stand), { report: { recounted: 0 } })
    t.same(await used(stand), [30_000 + FOLDERS, 0])
    await stand.store.sql`UPDATE container_files SET writing_until = clock_timestamp() - interval '1 s'`
    t.match(await swept(stand, { isUploadsOnly: true }), { failures: [] })
    t.same(await used(stand), [isPublished ? 30_000 + FOLDERS : 0, 0])
    t.match(await write(stand, 'a', 'xx'), { status: 200 })
    t.same(await used(stand), [COUNTED_BYTES_MIN + FOLDERS, 0])
  }
})

t.test('the sweep releases the reservation of a write that ended before it claimed its path', async (t) => {
  const stand = await standOn(t, 'disk', { files: { leaseMs: -1 } })
  await begun(stand.files, stand.workspaceId, 30_000)
  t.same(await used(stand), [0, 30_000])
  t.match(await swept(stand, { isUploadsOnly: true }), { report: { uploads: 1 } })
  t.same(await used(stand), [0, 0])
})

t.test('a writer that continues after its lease expired still counts its file', async (t) => {
  const { files, store, workspaceId } = await standOn(t, 'disk')
  const sizes = openContainerSizes(store)
  const claim = must(
    await files.claimPath(await begun(files, workspaceId, 30_000), {
      containerId: 'sess_abc',
      path: 'a',
      sizeBytes: 30_000,
    }),
  )
  await store.sql`UPDATE container_files SET writing_until = clock_timestamp() - interval '1 s'`
  const due = must(await sizes.due({ ageMs: null, after: null, countMax: 10 }))
  for (const path of due) t.equal(must(await sizes.recount(path, 'nothing')), true)
  t.equal(must(await files.usage(workspaceId)).usedBytes, 0)
  must(await sizes.release(claim, 30_000))
  t.equal(must(await files.usage(workspaceId)).usedBytes, 30_000 + COUNTED_BYTES_MIN)
  t.equal(
    must(await sizes.due({ ageMs: null, after: null, countMax: 10 })).length,
    1,
    'and the sweep looks again',
  )
})

t.test('while a smaller file replaces a larger one, the size of the larger one counts', async (t) => {
  const stand = await standOn(t, 'disk')
  const sizes = openContainerSizes(stand.store)
  await write(stand, 'a', 'x'.repeat(9_000))
  const upload = await begun(stand.files, stand.workspaceId, 10)
  const claim = must(
    await stand.files.claimPath(upload, { containerId: 'sess_abc', path: 'out/a.txt', sizeBytes: 10 }),
  )
  t.same(await used(stand), [9_000 + FOLDERS, 0])
  must(await sizes.release(claim, 10))
  t.same(await used(stand), [COUNTED_BYTES_MIN + FOLDERS, 0])
})

t.test('a size that was read before another write to the same path is dropped', async (t) => {
  const stand = await standOn(t, 'disk')
  const sizes = openContainerSizes(stand.store)
  await write(stand, 'a', 'x'.repeat(100))
  const [seen] = must(await sizes.due({ ageMs: 0, after: null, countMax: 10 }))
  await write(stand, 'a', 'x'.repeat(9_000))
  if (seen === undefined) throw new Error('nothing is due')
  t.equal(must(await sizes.recount(seen, 100)), false)
  t.same(await used(stand), [9_000 + FOLDERS, 0])
})

t.test('the sweep counts sandbox changes to uploaded files, but not files of the sandbox', async (t) => {
  const stand = await standOn(t, 'disk')
  for (const name of ['grown', 'gone', 'same']) await write(stand, name, 'x'.repeat(10_000))
  const place = join(stand.folder, 'containers', stand.workspaceId, 'sess_abc', 'out')
  writeFileSync(join(place, 'grown.txt'), 'x'.repeat(50_000))
  rmSync(join(place, 'gone.txt'))
  writeFileSync(join(place, 'own.txt'), 'x'.repeat(90_000))
  t.match(await swept(stand, {}), { report: { recounted: 0 } }, 'not before a day has passed')
  t.match(await swept(stand), { report: { recounted: 2 }, failures: [] })
  t.same(await used(stand), [60_000 + FOLDERS, 0])
})

t.test('a container file can still be emptied when the quota is exceeded', async (t) => {
  const stand = await standOn(t, 'disk', { files: files(20_000) })
  await write(stand, 'a', 'x'.repeat(9_000))
  await stand.store.sql`UPDATE workspace_storage SET used_bytes = used_bytes + 50000`
  t.match(await write(stand, 'a', 'x'), { status: 403, type: 'quota_exceeded' })
  t.match(
    await write(stand, 'b', ''),
    { status: 403, type: 'quota_exceeded' },
    'an empty one is another object',
  )
  t.match(await write(stand, 'a', ''), { status: 200 })
  t.same(await used(stand), [50_000 + COUNTED_BYTES_MIN + FOLDERS, 0])
})

t.test('a refused write, or one whose writer disconnects, leaves nothing reserved', async (t) => {
  const stand = await standOn(t, 'disk')
  await putInContainer(stand.storage, 'out/a.txt/b', 'below', inContainer(stand.workspaceId, 'a').container)
  t.match(await write(stand, 'a', 'x'.repeat(500)), { status: 400, type: 'container_path_invalid' })
  const client = beginUpload(stand.port, 10_000_000, { method: 'PUT', path: '/write/b' })
  client.send(Buffer.alloc(5_000_000))
  await until(() => stand.sessions.load.intakes !== 0)
  client.destroy()
  await stand.front.untilSettled(2)
  t.same(await used(stand), [0, 0])
  t.same(await stand.census(), {
    ready: 0,
    pending: 0,
    abandoned: 0,
    objects: 0,
    reservedBytes: 0,
    usedBytes: 0,
  })
})

t.test('the sweep updates a count that the store could not save', async (t) => {
  const stand = await standOn(t, 'disk', {
    wrap: (parts) => ({ ...parts, sizes: failing(parts.sizes, 'release', { name: 'store_unavailable' }) }),
  })
  t.match(await write(stand, 'a', 'x'.repeat(100)), { status: 200 })
  await stand.store.sql`UPDATE container_files SET writing_until = clock_timestamp() - interval '1 s'`
  t.match(await swept(stand, { isUploadsOnly: true }), { failures: [], report: { recounted: 0 } })
  t.same(await used(stand), [COUNTED_BYTES_MIN + FOLDERS, 0])
  t.match(await stand.store.sql`SELECT writing_until FROM container_files`, [{ writing_until: null }])
})
