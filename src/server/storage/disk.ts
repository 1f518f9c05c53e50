import { link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type {
  ListedObject,
  ObjectFacts,
  ObjectPage,
  Staging,
  Storage,
  StoredObject,
} from '../ports/files/storage.ts'
import { openDiskContainers } from './disk-containers.ts'
import { codeOf, diskFailure, reachDisk } from './disk-failure.ts'
import { StagingFolder } from './staging.ts'
import { factsOf, storedFile } from './stored-file.ts'
import { sync } from './sync.ts'
import { isObjectId, objectIdOf } from './stored-ids.ts'

/**
 * Storage in one folder of this machine or of a file system that nodes share: `objects`, `staging`,
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

const FAN_FOLDER = /^[0-9a-f]{3}$/
/** Objects of one page of a listing. Decision. */
const PAGE_OBJECTS = 1_000
/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Objects of files below one folder, distributed to 4,096 subfolders by the hash of their id. */
class DiskObjects {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  async prepare(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
  }

  /** Syncs the content first, then its name, then the folder: the name never refers to an incomplete object. */
  async publish(objectId: string, staging: Staging, signal?: AbortSignal): Promise<Outcome<null>> {
    if (signal?.aborted === true) return { ok: false, failure: endedBy(signal) }
    return reachDisk(async () => {
      const path = this.#pathOf(objectId)
      await sync(staging.path)
      await this.#makeFolder(dirname(path))
      await linkOnce(staging.path, path)
      await sync(dirname(path))
      await rm(staging.path, { force: true })
      return ok(null)
    })
  }

  open(objectId: string): Promise<Outcome<StoredObject>> {
    return reachDisk(async () => {
      const handle = await open(this.#pathOf(objectId), constants.O_RDONLY).catch(nullIfMissing)
      if (handle === null) return fail('content_missing')
      try {
        return ok(storedFile(handle, await handle.stat({ bigint: true })))
      } catch (cause) {
        await handle.close()
        throw cause
      }
    })
  }

  stat(objectId: string): Promise<Outcome<ObjectFacts | null>> {
    return reachDisk(async () => {
      const stats = await lstat(this.#pathOf(objectId), { bigint: true }).catch(nullIfMissing)
      return ok(stats === null ? null : factsOf(stats))
    })
  }

  remove(objectId: string): Promise<Outcome<boolean>> {
    return reachDisk(async () =>
      ok((await rm(this.#pathOf(objectId)).then(() => true, nullIfMissing)) !== null),
    )
  }

  /** @param cursor `folder/name` of the last object of the previous page */
  list(cursor: string | null): Promise<Outcome<ObjectPage>> {
    return reachDisk(async (): Promise<Outcome<ObjectPage>> => {
      const [afterFolder = '', afterName = ''] = cursor?.split('/') ?? []
      const objects: ListedObject[] = []
      for (const folder of (await readdir(this.#root)).filter((name) => FAN_FOLDER.test(name)).sort()) {
        if (folder < afterFolder) continue
        const names = (await readdir(join(this.#root, folder))).filter((name) => isObjectId(name)).sort()
        for (const name of names) {
          if (folder === afterFolder && name <= afterName) continue
          // Removed since the folder was read.
          const stats = await lstat(join(this.#root, folder, name)).catch(nullIfMissing)
          if (stats === null || !stats.isFile()) continue
          objects.push({ objectId: name, sizeBytes: stats.size, changedAt: stats.mtime })
          if (objects.length === PAGE_OBJECTS) return ok({ objects, cursor: `${folder}/${name}` })
        }
      }
      return ok({ objects, cursor: null })
    })
  }

  #pathOf(objectId: string): string {
    const id = objectIdOf(objectId)
    return join(this.#root, createHash('sha256').update(id).digest('hex').slice(0, 3), id)
  }

  async #makeFolder(folder: string): Promise<void> {
    try {
      await mkdir(folder, { mode: 0o700 })
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') return
      throw cause
    }
    await sync(this.#root)
  }
}

/** A rename would replace an object; a link fails when the name is taken. */
async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (cause) {
    // The name already refers to this same file: an earlier attempt created the link.
    if (codeOf(cause) === 'EEXIST' && (await lstat(from)).ino === (await lstat(to)).ino) return
    if (!NO_LINKS.has(codeOf(cause)) || (await lstat(to).catch(() => null)) !== null) throw cause
    await rename(from, to)
  }
}

function nullIfMissing(cause: unknown): null {
  if (codeOf(cause) === 'ENOENT') return null
  throw cause
}
