import { randomUUID } from 'node:crypto'
import { lstat, type FileHandle, rename, rmdir, unlink } from 'node:fs/promises'
import { CONTAINER_PATH_BYTES_MAX, PATH_SEGMENTS_MAX } from '../../schemas/files/file-limits.ts'
import type { ContainerFile } from '../ports/files/storage.ts'
import { entriesOf, isNotThere, nameIn, openFolderIn } from './container-paths.ts'
import { factsOf } from './stored-file.ts'
import { codeOf, errorOf } from './disk-failure.ts'

/** Names of one folder that are kept in memory at once: a folder with more names is read several times. Decision. */
const NAMES_HELD_MAX = 4_096
/** Cost, in entries, that one page of a listing may have: a container may hold a million empty folders. Decision. */
const PAGE_COST_MAX = 100_000
/** Cost of a folder in entries, for the cost of a page. Decision. */
const FOLDER_COST = 40
const SLASH = Buffer.from('/')
/** A byte order mark at the beginning of a path is part of its name. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A walk reached its limit of entries. */
export class WalkTooLong extends Error {}

/** The caller of the walk has left. */
export class WalkEnded extends Error {}

export interface Walk {
  /** Only paths greater than this path, by bytes; empty for all. */
  readonly after: Buffer
  readonly signal: AbortSignal | null
  /** Number of entries that may still be read. */
  left: number
}

/** A walk for one page. @param signal ends the walk */
export function pageAfter(after: string | null, signal: AbortSignal | null): Walk {
  return { after: Buffer.from(after ?? ''), signal, left: PAGE_COST_MAX }
}

/** A walk over everything, for the sweep and the backup, without a limit of entries. */
export function wholeWalk(after: string | null = null): Walk {
  return { after: Buffer.from(after ?? ''), signal: null, left: Number.POSITIVE_INFINITY }
}

/**
 * Plain files below an open folder, in the order of the bytes of their paths, without following a link. Files
 * that disappear meanwhile and paths that cannot be encoded as an id are left out. Memory is bounded for any
 * folder. Throws WalkTooLong, WalkEnded, and the system's errors.
 */
export async function* filesBelow(
  folder: FileHandle,
  prefix: Buffer,
  walk: Walk,
): AsyncGenerator<ContainerFile> {
  if (prefix.filter((byte) => byte === SLASH[0]).length >= PATH_SEGMENTS_MAX) return
  charge(walk, FOLDER_COST)
  let done: Buffer | null = null
  for (;;) {
    const keys = await nextKeys(folder, { prefix, done, walk })
    for (const key of keys) yield* at(folder, { prefix, key, walk })
    const last = keys.at(-1)
    if (last === undefined || keys.length < NAMES_HELD_MAX) return
    done = last
  }
}

function charge(walk: Walk, cost: number): void {
  walk.left -= cost
  if (walk.left < 0) throw new WalkTooLong('too many entries')
  if (walk.signal?.aborted === true) throw new WalkEnded('the client has disconnected')
}

interface Place {
  readonly prefix: Buffer
  readonly walk: Walk
}

/** The key of an entry is its name; a folder's key ends with a slash. Sorted by key, the entries give paths in the order of their bytes. */
async function* at(
  folder: FileHandle,
  { prefix, key, walk }: Place & { readonly key: Buffer },
): AsyncGenerator<ContainerFile> {
  const path = Buffer.concat([prefix, key])
  const isFolder = key.at(-1) === SLASH[0]
  try {
    if (!isFolder) {
      const stats = await lstat(nameIn(folder, key), { bigint: true })
      const text = textOf(path)
      if (stats.isFile() && stats.nlink === 1n && text !== null) yield { path: text, ...factsOf(stats) }
      return
    }
    const below = await openFolderIn(folder, key.subarray(0, -1))
    try {
      yield* filesBelow(below, path, walk)
    } finally {
      await below.close()
    }
  } catch (cause) {
    if (!isNotThere(cause)) throw cause
  }
}

/** The smallest keys of a folder, sorted, that are greater than `done` and may contain a path after the walk's start. */
async function nextKeys(
  folder: FileHandle,
  { prefix, done, walk }: Place & { readonly done: Buffer | null },
): Promise<readonly Buffer[]> {
  const held: Buffer[] = []
  let greatest: Buffer | null = null
  for await (const { name, isFolder } of entriesOf(folder)) {
    charge(walk, 1)
    const key = isFolder ? Buffer.concat([name, SLASH]) : name
    if ((done !== null && key.compare(done) <= 0) || (greatest !== null && key.compare(greatest) >= 0))
      continue
    if (!mayComeAfter(Buffer.concat([prefix, key]), isFolder, walk.after)) continue
    held.push(key)
    if (held.length < 2 * NAMES_HELD_MAX) continue
    held.sort((a, b) => a.compare(b)).length = NAMES_HELD_MAX
    greatest = held.at(-1) ?? null
  }
  return held.sort((a, b) => a.compare(b)).slice(0, NAMES_HELD_MAX)
}

function mayComeAfter(path: Buffer, isFolder: boolean, after: Buffer): boolean {
  return path.compare(after) > 0 || (isFolder && after.subarray(0, path.length).equals(path))
}

function textOf(path: Buffer): string | null {
  if (path.length > CONTAINER_PATH_BYTES_MAX) return null
  try {
    return utf8.decode(path)
  } catch {
    return null
  }
}

/** Result of one pass. */
interface Removal {
  removed: number
  /** Number of folders that were moved to the top. */
  moved: number
  refusal: Error | null
}

/**
 * Removes a folder with all its contents, at any depth: folders inside others are moved to the top, so that
 * one level at a time is open. Links are removed, never followed; an entry that another process removes first
 * is not an error. An entry that cannot be removed does not stop the rest; its error is thrown at the end.
 * @returns the number of removed files
 */
export async function removeFolder(parent: FileHandle, name: string): Promise<number> {
  let removed = 0
  let last: Removal
  const top = await openFolderIn(parent, name)
  try {
    do {
      last = { removed: 0, moved: 0, refusal: null }
      await pass(top, last)
      removed += last.removed
    } while (last.moved > 0)
  } finally {
    await top.close()
  }
  if (last.refusal === null) await unlessGone(() => rmdir(nameIn(parent, name)), last)
  if (last.refusal !== null) throw last.refusal
  return removed
}

async function pass(top: FileHandle, removal: Removal): Promise<void> {
  for await (const { name, isFolder } of entriesOf(top)) {
    await (isFolder ? unlessGone(() => flatten(top, name, removal), removal) : removeFile(top, name, removal))
  }
}

async function flatten(top: FileHandle, name: Buffer, removal: Removal): Promise<void> {
  const folder = await openFolderIn(top, name)
  try {
    for await (const entry of entriesOf(folder)) {
      if (!entry.isFolder) await removeFile(folder, entry.name, removal)
      else await unlessGone(() => moveUp(folder, { name: entry.name, top, removal }), removal)
    }
  } finally {
    await folder.close()
  }
  await rmdir(nameIn(top, name))
}

async function moveUp(
  folder: FileHandle,
  { name, top, removal }: { name: Buffer; top: FileHandle; removal: Removal },
): Promise<void> {
  await rename(nameIn(folder, name), nameIn(top, randomUUID()))
  removal.moved++
}

async function removeFile(folder: FileHandle, name: Buffer, removal: Removal): Promise<void> {
  await unlessGone(async () => {
    await unlink(nameIn(folder, name))
    removal.removed++
  }, removal)
}

async function unlessGone(work: () => Promise<void>, removal: Removal): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') removal.refusal ??= errorOf(cause)
  }
}
