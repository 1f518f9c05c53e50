import { randomUUID } from 'node:crypto'
import { chmod, link, lstat, readdir, rename, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { isContainerId, parseContainerPath, pathIssue } from '../../schemas/containers/container-paths.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type {
  ContainerFile,
  ContainerFolders,
  ContainerPage,
  ContainerRef,
  Staging,
  StoredObject,
} from '../ports/files/storage.ts'
import { CAN_WALK, isNotThere, nameIn, openFileIn, openFolder } from './container-paths.ts'
import { isWorkspaceId, partsOf } from './stored-ids.ts'
import {
  filesBelow,
  pageAfter,
  WalkEnded,
  WalkTooLong,
  wholeWalk,
  type Walk,
  removeFolder,
} from './container-tree.ts'
import { storedFile } from './stored-file.ts'
import { codeOf, errorOf, reachDisk } from './disk-failure.ts'
import { sync, syncOpen } from './sync.ts'
import { Semaphore } from '../structures/semaphore.ts'

/** Containers of one page of a listing. Decision. */
const PAGE_CONTAINERS = 1_000
/** Listings that one front makes at once. Decision. */
const WALKS_MAX = 2
/** Listings that may wait in one front; further ones fail with `busy`. Decision. */
const WALKS_WAITING_MAX = 16
/** A sandbox, perhaps as another user, reads the files that callers upload. */
const FILE_MODE = 0o644
/** Errors when another entry exists where a file or one of its folders is needed. */
const IN_THE_WAY = new Set(['EISDIR', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST'])
/** Errors when an entry on the path is not a folder. */
const NO_FOLDER = new Set(['ENOTDIR', 'ELOOP'])
const FILE_IN_THE_WAY = pathIssue(
  'has a file or a link instead of a folder',
  'a path whose parents are all folders',
)
const FOLDER_IN_THE_WAY = pathIssue('is the path of a folder', 'the path of a file')

interface Folders {
  /** `<workspace id>/<container id>/<path>` below this folder. */
  readonly folder: string
  /** A folder on the same file system for containers during their removal. */
  readonly trash: string
}

/** Containers stored as folders of this machine; a sandbox may write into them at the same time. */
export function openDiskContainers(folders: Folders, canWalk = CAN_WALK): ContainerFolders {
  const guarded = async <T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> => {
    if (!canWalk) return fail('containers_unsupported')
    try {
      return await reachDisk(work)
    } catch (cause) {
      if (cause instanceof WalkTooLong) return fail('container_too_large', { cause })
      throw cause
    }
  }
  const root = folders.folder
  const walks = new Semaphore(WALKS_MAX)
  return {
    list: async (container, after, countMax, signal) => {
      if (walks.waiting >= WALKS_WAITING_MAX) return fail('busy', { retryAfterS: 1 })
      return walks.run(() =>
        guarded(() => listFiles(root, container, { countMax, walk: pageAfter(after, signal ?? null) })),
      )
    },
    listWhole: (container, after, countMax) =>
      guarded(() => listFiles(root, container, { countMax, walk: wholeWalk(after) })),
    stat: (container, path) =>
      guarded(async () => {
        const opened = await openFile(root, container, path)
        if (!opened.ok) return opened
        const { sizeBytes, changedAt, version } = opened.value
        await opened.value.close()
        return ok({ path, sizeBytes, changedAt, version })
      }),
    open: (container, path, signal) =>
      guarded(() =>
        signal?.aborted === true
          ? Promise.resolve({ ok: false, failure: endedBy(signal) })
          : openFile(root, container, path),
      ),
    publish: (container, path, staging, signal) =>
      guarded(() =>
        signal?.aborted === true
          ? Promise.resolve({ ok: false, failure: endedBy(signal) })
          : putFile(root, container, { path, staging }),
      ),
    newestChange: (container) => guarded(() => newestIn(root, container)),
    listContainers: (cursor) => guarded(() => listContainers(root, cursor)),
    removeContainer: (container, unchangedSince) =>
      guarded(() => removeContainer(folders, container, unchangedSince ?? null)),
    emptyTrash: (idleMs) => guarded(() => emptyTrash(folders.trash, idleMs)),
  }
}

interface PageInput {
  readonly countMax: number
  readonly walk: Walk
}

async function listFiles(
  root: string,
  container: ContainerRef,
  { countMax, walk }: PageInput,
): Promise<Outcome<ContainerPage>> {
  const files: ContainerFile[] = []
  if (walk.signal?.aborted === true) return { ok: false, failure: endedBy(walk.signal) }
  try {
    await withContainer(root, container, async (folder) => {
      for await (const file of filesBelow(folder, Buffer.alloc(0), walk)) {
        files.push(file)
        if (files.length > countMax) break
      }
    })
  } catch (cause) {
    if (cause instanceof WalkEnded && walk.signal !== null)
      return { ok: false, failure: endedBy(walk.signal) }
    throw cause
  }
  const hasMore = files.length > countMax
  return ok({ files: hasMore ? files.slice(0, countMax) : files, hasMore })
}

async function newestIn(root: string, container: ContainerRef): Promise<Outcome<Date | null>> {
  let newest: Date | null = null
  await withContainer(root, container, async (folder) => {
    newest = await newestBelow(folder)
  })
  return ok(newest)
}

/** The folder itself counts too: a sandbox that has just started has not written anything yet, and must not lose its folder. */
async function newestBelow(folder: FileHandle): Promise<Date> {
  let { mtime: newest } = await folder.stat()
  for await (const { changedAt } of filesBelow(folder, Buffer.alloc(0), wholeWalk())) {
    if (changedAt > newest) newest = changedAt
  }
  return newest
}

async function openFile(root: string, container: ContainerRef, path: string): Promise<Outcome<StoredObject>> {
  const segments = segmentsOf(path)
  const name = segments?.pop()
  if (segments === null || name === undefined) return fail('container_file_unknown')
  try {
    const folder = await openFolder(root, [...partsOf(container), ...segments])
    try {
      const file = await openFileIn(folder, name)
      return file === null ? fail('container_file_unknown') : ok(await storedFrom(file))
    } finally {
      await folder.close()
    }
  } catch (cause) {
    if (isNotThere(cause)) return fail('container_file_unknown')
    throw cause
  }
}

async function storedFrom(file: FileHandle): Promise<StoredObject> {
  try {
    return storedFile(file, await file.stat({ bigint: true }))
  } catch (cause) {
    await file.close()
    throw cause
  }
}

/** The rename replaces any entry with the name, even a link; files are never written through a link. */
async function putFile(
  root: string,
  container: ContainerRef,
  put: { path: string; staging: Staging },
): Promise<Outcome<null>> {
  const segments = segmentsOf(put.path)
  const name = segments?.pop()
  if (segments === null || name === undefined) return fail('container_path_invalid')
  await chmod(put.staging.path, FILE_MODE)
  await sync(put.staging.path)
  try {
    const folder = await openFolder(root, [...partsOf(container), ...segments], true)
    try {
      await rename(put.staging.path, nameIn(folder, name))
      await syncOpen(folder)
    } finally {
      await folder.close()
    }
    return ok(null)
  } catch (cause) {
    const code = codeOf(cause)
    if (!IN_THE_WAY.has(code)) throw cause
    return fail('container_path_invalid', {
      cause,
      metadata: { issues: [NO_FOLDER.has(code) ? FILE_IN_THE_WAY : FOLDER_IN_THE_WAY] },
    })
  }
}

async function listContainers(
  root: string,
  cursor: string | null,
): Promise<Outcome<{ containers: ContainerRef[]; cursor: string | null }>> {
  const containers: ContainerRef[] = []
  const [afterWorkspace = '', afterContainer = ''] = cursor?.split('/') ?? []
  for (const workspaceId of (await readdir(root)).filter((name) => isWorkspaceId(name)).sort()) {
    if (workspaceId < afterWorkspace) continue
    for (const containerId of (await readdir(join(root, workspaceId)))
      .filter((name) => isContainerId(name))
      .sort()) {
      if (workspaceId === afterWorkspace && containerId <= afterContainer) continue
      containers.push({ workspaceId, containerId })
      if (containers.length === PAGE_CONTAINERS)
        return ok({ containers, cursor: `${workspaceId}/${containerId}` })
    }
  }
  return ok({ containers, cursor: null })
}

/** First moves the container into the trash, so that a later writer creates a new container. */
async function removeContainer(
  { folder, trash }: Folders,
  container: ContainerRef,
  unchangedSince: Date | null,
): Promise<Outcome<number | null>> {
  const moved = randomUUID()
  const workspace = await openFolder(folder, [container.workspaceId]).catch(nullIfNotThere)
  if (workspace === null) return ok(null)
  try {
    const name = nameIn(workspace, partsOf(container)[1])
    await rename(name, join(trash, moved))
    // The container was written after the caller examined it.
    if (unchangedSince !== null && (await changedAfter(trash, moved, unchangedSince))) {
      if (await movedBack(join(trash, moved), name)) return ok(null)
      await joinNewer(folder, container, { from: join(trash, moved), limit: unchangedSince })
    }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return ok(null)
    throw cause
  } finally {
    await workspace.close()
  }
  return ok(await removeFromTrash(trash, moved))
}

/**
 * Removes the remains of crashes: entries that were moved here long enough ago that no process works on them. An
 * entry that cannot be removed does not stop the rest.
 */
async function emptyTrash(trash: string, idleMs: number): Promise<Outcome<number>> {
  let removed = 0
  let refusal: Error | null = null
  for (const name of await readdir(trash)) {
    try {
      const { ctimeMs } = await lstat(join(trash, name))
      if (Date.now() - ctimeMs >= idleMs) removed += await removeFromTrash(trash, name)
    } catch (cause) {
      if (codeOf(cause) !== 'ENOENT') refusal ??= errorOf(cause)
    }
  }
  if (refusal !== null) throw refusal
  return ok(removed)
}

/** The entry with the container's name was a link or a file. */
async function removeFromTrash(trash: string, name: string): Promise<number> {
  const parent = await openFolder(trash, [])
  try {
    if ((await lstat(nameIn(parent, name))).isDirectory()) return await removeFolder(parent, name)
    await unlink(nameIn(parent, name))
    return 1
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return 0
    throw cause
  } finally {
    await parent.close()
  }
}

async function changedAfter(trash: string, moved: string, limit: Date): Promise<boolean> {
  const folder = await openFolder(trash, [moved]).catch(nullIfNotThere)
  if (folder === null) return false
  try {
    return (await newestBelow(folder)) > limit
  } finally {
    await folder.close()
  }
}

/** @returns false when a new container already exists there */
function movedBack(from: string, to: Buffer): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    (cause: unknown) => {
      if (IN_THE_WAY.has(codeOf(cause))) return false
      throw cause
    },
  )
}

/**
 * Moves files that were written before the new container existed into it, unless the new container has a
 * later file at the path.
 */
async function joinNewer(
  root: string,
  container: ContainerRef,
  { from, limit }: { from: string; limit: Date },
): Promise<void> {
  const old = await openFolder(from, [])
  try {
    for await (const { path, changedAt } of filesBelow(old, Buffer.alloc(0), wholeWalk())) {
      if (changedAt <= limit) continue
      await joinFile(root, container, { old, path }).catch((cause: unknown) => {
        if (!IN_THE_WAY.has(codeOf(cause)) && !isNotThere(cause)) throw cause
      })
    }
  } finally {
    await old.close()
  }
}

/** Creates a link instead of renaming: an entry with the name is never replaced. */
async function joinFile(
  root: string,
  container: ContainerRef,
  { old, path }: { old: FileHandle; path: string },
): Promise<void> {
  const segments = segmentsOf(path)
  const name = segments?.pop()
  if (segments === null || name === undefined) return
  const to = await openFolder(root, [...partsOf(container), ...segments], true)
  try {
    const source = await openFolder(`/proc/self/fd/${old.fd}`, segments)
    try {
      await link(nameIn(source, name), nameIn(to, name))
      await unlink(nameIn(source, name))
    } finally {
      await source.close()
    }
    await syncOpen(to)
  } finally {
    await to.close()
  }
}

async function withContainer(
  root: string,
  container: ContainerRef,
  use: (folder: FileHandle) => Promise<void>,
): Promise<void> {
  const folder = await openFolder(root, partsOf(container)).catch(nullIfNotThere)
  if (folder === null) return
  try {
    await use(folder)
  } finally {
    await folder.close()
  }
}

function nullIfNotThere(cause: unknown): null {
  if (isNotThere(cause)) return null
  throw cause
}

function segmentsOf(path: string): string[] | null {
  return parseContainerPath(path)?.split('/') ?? null
}
