import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from '../ports/files/storage.ts'
import { openDiskContainers } from './disk-containers.ts'
import { diskFailure } from './disk-failure.ts'
import { DiskObjects } from './disk-objects.ts'
import { StagingFolder } from './staging.ts'

/**
 * Storage in one folder of this machine, or of a file system that nodes share: `objects`, `staging`,
 * `containers` and `trash`, which must be on one file system, since files move between them by name. Throws
 * the system's error when the folders cannot be created.
 */
export async function openDiskStorage({
  folder,
  owner,
}: {
  readonly folder: string
  readonly owner?: string | undefined
}): Promise<Storage> {
  const staging = new StagingFolder(join(folder, 'staging'), owner)
  const objects = new DiskObjects(join(folder, 'objects'))
  const folders = { folder: join(folder, 'containers'), trash: join(folder, 'trash') }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await Promise.all([
    staging.prepare(),
    objects.prepare(),
    ...Object.values(folders).map((path) => mkdir(path, { recursive: true })),
  ])
  return {
    stage: (expectedBytes) => staging.stage(expectedBytes),
    publish: (objectId, staged, signal) => objects.publish(objectId, staged, signal),
    open: (objectId) => objects.open(objectId),
    stat: (objectId) => objects.stat(objectId),
    remove: (objectId) => objects.remove(objectId),
    list: (cursor) => objects.list(cursor),
    stagingOwners: () => staging.owners(),
    sweepStaging: (idleMs, gone) => staging.sweep(idleMs, gone),
    containers: openDiskContainers(folders),
    failureOf: diskFailure,
    close: () => Promise.resolve(),
  }
}
