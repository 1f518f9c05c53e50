/** Storage and rows that a sweep is run on, with what it removes and what it keeps. */
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { UPLOAD_LEASE_MS } from '../../../src/schemas/files/file-limits.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../src/schemas/limits/idempotency-limits.ts'
import type { ObjectPage, Storage } from '../../../src/server/ports/files/storage.ts'
import {
  STAGING_IDLE_MS,
  sweep,
  type SweepOptions,
  type SweepDeps,
  type SweepReport,
} from '../../../src/server/runner/sweep.ts'
import { openContainerSizes } from '../../../src/server/store/containers/container-sizes.ts'
import { openContainerUses } from '../../../src/server/store/containers/container-uses.ts'
import { openFileSweep } from '../../../src/server/store/files/file-sweep.ts'
import { begun, FACTS, openFileStand, storedFile, type FileStand } from './files.ts'
import { ok } from '../../../src/schemas/failures.ts'
import { must } from '../must.ts'
import type { FakeS3 } from './s3.ts'
import { openDisk, openS3, put, putInContainer } from './storage.ts'

export const NOTHING: SweepReport = {
  uploads: 0,
  expired: 0,
  objects: 0,
  staging_files: 0,
  containers: 0,
  container_files: 0,
  recounted: 0,
  idempotency: 0,
}
export const AWAY = { name: 'storage_unavailable' } as const
/** Check of a place that belongs to the installation. */
export const OWN_PLACE: SweepDeps['checkPlace'] = () => Promise.resolve(ok(null))

export interface SweepStand extends FileStand {
  readonly storage: Storage
  /** Of the driver: below it are `staging` and, on disk, `containers`. */
  readonly folder: string
  readonly s3: FakeS3 | null
  readonly deps: SweepDeps
  /** Sweeps as if it were so many milliseconds later. */
  run(laterMs?: number, more?: Partial<SweepDeps>, options?: SweepOptions): ReturnType<typeof sweep>
}

export async function standOn(t: Test, driver: 'disk' | 'S3', leaseMs = -1): Promise<SweepStand> {
  const stand = await openFileStand(t, { leaseMs })
  const opened = driver === 'disk' ? { ...(await openDisk(t)), s3: null } : await openS3(t)
  const deps: SweepDeps = {
    rows: openFileSweep(stand.store),
    uses: openContainerUses(stand.store),
    sizes: openContainerSizes(stand.store),
    storage: opened.storage,
    checkPlace: OWN_PLACE,
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
export async function litter({
  store,
  files,
  storage,
  workspaceId,
  folder,
  open,
}: SweepStand): Promise<void> {
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

export async function objectsOf({ storage }: Pick<SweepStand, 'storage'>): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | null = null; ;) {
    const page: ObjectPage = must(await storage.list(cursor))
    ids.push(...page.objects.map(({ objectId }) => objectId))
    cursor = page.cursor
    if (cursor === null) return ids.sort()
  }
}
