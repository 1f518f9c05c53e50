import { constants, existsSync } from 'node:fs'
import { mkdir, open, opendir, readlink, type FileHandle } from 'node:fs/promises'
import { codeOf } from './disk-failure.ts'
import { syncOpen } from './sync.ts'

/**
 * Opens folders and files below a folder that other processes modify, without following links. Node has no
 * `openat`; on Linux `/proc/self/fd/N` identifies an open folder even when its path changes meanwhile, and the
 * link's target is the folder's current path. Design §5.
 */
export const CAN_WALK = process.platform === 'linux' && existsSync('/proc/self/fd')

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Without O_NONBLOCK, opening a planted pipe would wait for a writer and hold a thread of the pool forever. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/**
 * Errors for a link, for a file where a folder is expected, for a missing name and for missing permission. All
 * count as a missing file.
 */
const NOT_THERE = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EACCES',
  'EPERM',
  'ENXIO',
  'ENODEV',
  'ENAMETOOLONG',
])

/** Number of folders in a path from which opening the whole path at once is faster than a walk. */
const WALKED_MAX = 2

export function isNotThere(cause: unknown): boolean {
  return NOT_THERE.has(codeOf(cause))
}

/** The path of an entry in an open folder, for a single system call; the call itself must not follow a link at the end. */
export function nameIn(folder: FileHandle, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder.fd}/`), Buffer.from(name)])
}

/**
 * Opens a folder below `root`. The caller closes it. Throws the system's error; `isNotThere` recognizes the
 * errors of a missing folder.
 * @param segments each without a slash, none empty, `.` or `..`: as from `parseContainerPath`
 * @param mayMake true creates missing folders. The topmost one is synced to the disk. When the caller later
 * writes into the last folder and syncs it, the folders in between reach the disk too, since they were created
 * earlier
 */
export async function openFolder(
  root: string,
  segments: readonly string[],
  mayMake = false,
): Promise<FileHandle> {
  // The root belongs to the operator and may be a link.
  const top = await open(root, constants.O_RDONLY | constants.O_DIRECTORY)
  const there = await openBelow(top, segments)
  if (there === null) return walk(top, segments, mayMake)
  await top.close()
  return there
}

/**
 * Opens a folder by its whole path, and then asks the system for its real path, which differs if a link was
 * followed. A walk needs two system calls for each folder, this needs three in total.
 * @returns null when there is no such folder, or its real path differs: a walk then finds the cause
 */
async function openBelow(top: FileHandle, segments: readonly string[]): Promise<FileHandle | null> {
  if (segments.length < WALKED_MAX) return null
  const path = segments.join('/')
  const folder = await openFolderIn(top, path).catch(() => null)
  if (folder === null) return null
  const lies = await Promise.all([top, folder].map(({ fd }) => readlink(`/proc/self/fd/${fd}`))).catch(
    () => [],
  )
  if (lies.length === 2 && lies[1] === `${lies[0]}/${path}`) return folder
  await folder.close()
  return null
}

/** Opens one folder after another. Closes `top`. */
async function walk(top: FileHandle, segments: readonly string[], mayMake: boolean): Promise<FileHandle> {
  let folder = top
  let hasMade = false
  for (const segment of segments) {
    try {
      if (mayMake && (await makeMissing(folder, segment))) {
        if (!hasMade) await syncOpen(folder)
        hasMade = true
      }
      const below = await openFolderIn(folder, segment)
      await folder.close()
      folder = below
    } catch (cause) {
      await folder.close()
      throw cause
    }
  }
  return folder
}

/** Opens a folder in an open one, for walks. Throws like `openFolder`. */
export function openFolderIn(folder: FileHandle, name: string | Buffer): Promise<FileHandle> {
  return open(nameIn(folder, name), FOLDER)
}

/**
 * Opens a plain file in an open folder for reading.
 * @returns null for other kinds of files, and for a file with a second hard link, which may be outside
 */
export async function openFileIn(folder: FileHandle, name: string): Promise<FileHandle | null> {
  const file = await open(nameIn(folder, name), FILE)
  try {
    const stats = await file.stat()
    if (stats.isFile() && stats.nlink === 1) return file
    await file.close()
    return null
  } catch (cause) {
    await file.close()
    throw cause
  }
}

/** Entries of an open folder as bytes: a name need not be UTF-8. */
export async function* entriesOf(
  folder: FileHandle,
): AsyncGenerator<{ readonly name: Buffer; readonly isFolder: boolean }> {
  const entries = await opendir(`/proc/self/fd/${folder.fd}`, {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: 256,
  })
  for await (const entry of entries) {
    yield { name: Buffer.from(entry.name), isFolder: entry.isDirectory() }
  }
}

/** @returns false when the name already exists */
async function makeMissing(folder: FileHandle, segment: string): Promise<boolean> {
  return mkdir(nameIn(folder, segment)).then(
    () => true,
    (cause: unknown) => {
      if (codeOf(cause) === 'EEXIST') return false
      throw cause
    },
  )
}
