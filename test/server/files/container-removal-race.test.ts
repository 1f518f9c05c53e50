import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CONTAINER_KEPT_MS, COUNTED_BYTES_MIN } from '../../../src/schemas/files/file-limits.ts'
import type { ContainerFolders, Storage } from '../../../src/server/ports/files/storage.ts'
import { sweep } from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import type { FilesOptions } from '../../../src/server/store/files/files.ts'
import { must, present } from '../../support/must.ts'
import { openDisk, openS3, putInContainer } from '../../support/files/storage.ts'
import { inContainer, openTransfers, type TransferStand } from '../../support/files/transfers.ts'
import { answerOf, beginUpload, type Answer } from '../../support/files/upload-echo.ts'
import { until } from '../../support/wait.ts'
import { OWN_PLACE } from '../../support/files/sweeps.ts'

t.setTimeout(600_000)

/** Where one side stands still, until it is let go. */
class Hold {
  readonly reached: Promise<void>
  letPass: () => void = () => undefined
  #arrive: () => void = () => undefined
  readonly #gone: Promise<void>

  constructor() {
    this.reached = new Promise((resolve) => (this.#arrive = resolve))
    this.#gone = new Promise((resolve) => (this.letPass = resolve))
  }

  here(): Promise<void> {
    this.#arrive()
    return this.#gone
  }
}

/**
 * Fault points: a write that has its path and has published nothing; a sweep that has seen the container's
 * last use; a removal before, and after, it takes the container away.
 */
type Point = 'write.claimed' | 'sweep.looked' | 'removal.before' | 'removal.after'

/** Its container has two files, and was last used and changed longer ago than CONTAINER_KEPT_MS. */
interface RaceStand extends TransferStand {
  hold(point: Point): Hold
  sweepNow(): ReturnType<typeof sweep>
  write(content: string): Promise<Answer>
  paths(): Promise<readonly string[]>
  /** Calls of `publish` so far. */
  published(): number
  /** Until a write has found its path taken so many times. */
  untilWaiting(count: number): Promise<void>
}

async function standOn(
  t: Test,
  driver: 'disk' | 'S3',
  points: readonly Point[],
  files: Partial<FilesOptions> = {},
): Promise<RaceStand> {
  const holds = new Map(points.map((point) => [point, new Hold()]))
  const opened = driver === 'disk' ? { ...(await openDisk(t)), s3: null } : await openS3(t)
  const inner = opened.storage
  let published = 0
  let waits = 0
  const random = (): number => {
    waits++
    return 0
  }
  const containers: ContainerFolders = {
    ...inner.containers,
    async publish(...asked) {
      await holds.get('write.claimed')?.here()
      published++
      return inner.containers.publish(...asked)
    },
    async newestChange(...asked) {
      await holds.get('sweep.looked')?.here()
      return inner.containers.newestChange(...asked)
    },
    async removeContainer(...asked) {
      await holds.get('removal.before')?.here()
      const removed = await inner.containers.removeContainer(...asked)
      await holds.get('removal.after')?.here()
      return removed
    },
  }
  const storage: Storage = { ...inner, containers }
  const stand = await openTransfers(t, { storage, files: { random, ...files } })
  const { store, workspaceId } = stand
  const { container } = inContainer(workspaceId, 'a')
  await putInContainer(inner, 'old', 'old', container)
  await putInContainer(inner, 'out/a.txt', 'before', container)
  const at = new Date(Date.now() - CONTAINER_KEPT_MS - 60_000)
  if (opened.s3 === null) {
    const place = join(opened.folder, 'containers', workspaceId, container.containerId)
    for (const path of ['old', 'out/a.txt', 'out', '']) utimesSync(join(place, path), at, at)
  } else
    for (const [key, stored] of opened.s3.objects) opened.s3.objects.set(key, { ...stored, changedAt: at })
  await store.sql`INSERT INTO container_uses (workspace_id, container_id, used_at) VALUES (${workspaceId}, ${container.containerId}, ${at})`
  const parts = {
    rows: openFileSweep(store),
    uses: openContainerUses(store),
    sizes: openContainerSizes(store),
    storage,
    checkPlace: OWN_PLACE,
    now: Date.now,
  }
  return {
    ...stand,
    hold: (point) => present(holds.get(point)),
    sweepNow: () => sweep(parts),
    write(content) {
      const client = beginUpload(stand.port, content.length, { method: 'PUT', path: '/write/a' })
      client.send(content)
      return answerOf(client)
    },
    paths: async () => must(await inner.containers.list(container, null, 100)).files.map(({ path }) => path),
    published: () => published,
    async untilWaiting(count) {
      await until(() => waits >= count)
    },
  }
}

for (const driver of ['disk', 'S3'] as const) {
  t.test(
    `a write that has claimed its path prevents the removal of a container that a sweep found to be old (${driver})`,
    async (t) => {
      const stand = await standOn(t, driver, ['sweep.looked', 'write.claimed'])
      const sweeping = stand.sweepNow()
      await stand.hold('sweep.looked').reached
      const writing = stand.write('before')
      await stand.hold('write.claimed').reached
      stand.hold('sweep.looked').letPass()
      t.match(await sweeping, { failures: [], report: { containers: 0, container_files: 0 } })
      stand.hold('write.claimed').letPass()
      t.match(await writing, { status: 200 })
      t.same(await stand.paths(), ['old', 'out/a.txt'])
    },
  )

  for (const point of ['removal.before', 'removal.after'] as const) {
    t.test(
      `a write that arrives while a removal is held at ${point} is published after it, and its file exists (${driver})`,
      async (t) => {
        const stand = await standOn(t, driver, [point], { containerWaitMs: 60_000 })
        const sweeping = stand.sweepNow()
        await stand.hold(point).reached
        // The same content: what the removal has listed looks as what is written.
        const writing = stand.write('before')
        await stand.untilWaiting(1)
        // A read that notes its use meanwhile does not let the write in.
        must(await openContainerUses(stand.store).touch(stand.workspaceId, 'sess_abc'))
        await stand.untilWaiting(4)
        t.equal(stand.published(), 0)
        stand.hold(point).letPass()
        t.match(await sweeping, { failures: [], report: { containers: 1, container_files: 2 } })
        t.match(await writing, { status: 200 })
        t.same(await stand.paths(), ['out/a.txt'])
        t.match(must(await stand.files.usage(stand.workspaceId)), {
          usedBytes: 3 * COUNTED_BYTES_MIN,
          reservedBytes: 0,
        })
      },
    )
  }
}

t.test('a write that waits too long for a removal gets 503 busy, and reserves nothing', async (t) => {
  const stand = await standOn(t, 'disk', ['removal.before'], { containerWaitMs: 0 })
  const sweeping = stand.sweepNow()
  await stand.hold('removal.before').reached
  t.match(await stand.write('x'), { status: 503, type: 'busy' })
  t.match(must(await stand.files.usage(stand.workspaceId)), { usedBytes: 0, reservedBytes: 0 })
  stand.hold('removal.before').letPass()
  t.match(await sweeping, { report: { containers: 1 } })
})

t.test('a removal that was killed blocks writes for the time of its lease only', async (t) => {
  const stand = await standOn(t, 'disk', [], { containerWaitMs: 0 })
  await stand.store
    .sql`UPDATE container_uses SET removal_id = gen_random_uuid(), removing_until = clock_timestamp() + interval '1 minute'`
  t.match(await stand.sweepNow(), { report: { containers: 0 } }, 'nor do two removals meet')
  t.match(await stand.write('x'), { status: 503, type: 'busy' })
  await stand.store.sql`UPDATE container_uses SET removing_until = clock_timestamp() - interval '1 s'`
  t.match(await stand.write('x'), { status: 200 })
  t.same(await stand.paths(), ['old', 'out/a.txt'])
})
