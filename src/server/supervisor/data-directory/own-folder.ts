import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Entry that the file system of a fresh volume contains. */
const OF_THE_VOLUME = 'lost+found'

export interface OwnFolderInput {
  readonly path: string
  /** A file of every folder that Sluice has used before. */
  readonly token: string
  /** Names that a start leaves when it is interrupted before it wrote the token. */
  readonly early: RegExp
}

/**
 * Creates the folder where needed and removes the access of others.
 * @returns why the folder must not be used, or null: a link, another user's folder, or a folder with other
 * content. Root would otherwise close such a folder to its users, and would read and write files that another
 * user prepared in it. Throws the system's error when the folder cannot be created or closed.
 */
export function openOwnFolder(input: OwnFolderInput): string | null {
  makeFolder(input.path)
  const why = whyNotOwn(input)
  if (why === null && (lstatSync(input.path).mode & 0o777) !== 0o700) chmodSync(input.path, 0o700)
  return why
}

/** The same check of an existing folder, without a change to it. */
export function whyNotOwn(input: OwnFolderInput): string | null {
  const stats = lstatSync(input.path)
  if (stats.isSymbolicLink()) return 'is a symbolic link: use the directory that the link points to'
  if (!stats.isDirectory()) return 'is not a directory'
  if (!isOwn(stats)) return `belongs to user ${stats.uid}`
  return isOursOrEmpty(input) ? null : 'contains other files'
}

/** Writes a file that only its owner may read, completely or not at all; never follows a link at its path. */
export function writePrivate(folder: string, name: string, text: string): void {
  write(folder, name, { text, isSynced: false })
}

/** As `writePrivate`, for a file that must survive a stop of the machine: the content is on the disk before the file has its name. */
export function writeDurable(folder: string, name: string, text: string): void {
  write(folder, name, { text, isSynced: true })
  syncFolder(folder)
}

/** Returns when the new and removed names of the folder are on the disk. */
export function syncFolder(folder: string): void {
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function write(folder: string, name: string, { text, isSynced }: { text: string; isSynced: boolean }): void {
  const draft = draftOf(join(folder, name))
  const file = openSync(draft, 'wx', 0o600)
  try {
    try {
      writeFileSync(file, text)
      if (isSynced) fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, join(folder, name))
  } catch (cause) {
    // Otherwise drafts would accumulate on a full disk.
    rmSync(draft, { force: true })
    throw cause
  }
}

/** The text of a file of the folder; null if absent. */
export function readOwn(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

/** An unpredictable name next to `file`, to be opened with `wx`. */
export function draftOf(file: string): string {
  return `${file}.${randomBytes(8).toString('hex')}`
}

/** Creates a folder and its parent. Node's `recursive: true` never returns when a folder fails with ENOENT, as folders of /proc do. */
function makeFolder(path: string, mayMakeParent = true): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || !mayMakeParent) throw cause
    makeFolder(dirname(path))
    makeFolder(path, false)
  }
}

function isOursOrEmpty({ path, token, early }: OwnFolderInput): boolean {
  const names = readdirSync(path).filter((name) => name !== OF_THE_VOLUME)
  const isOwnFile = (name: string): boolean => {
    const stats = lstatSync(join(path, name), { throwIfNoEntry: false })
    return stats === undefined || (stats.isFile() && isOwn(stats))
  }
  if (names.includes(token)) return isOwnFile(token)
  return names.every((name) => early.test(name) && isOwnFile(name))
}

function isOwn(stats: Stats): boolean {
  return stats.uid === (process.geteuid?.() ?? stats.uid)
}
