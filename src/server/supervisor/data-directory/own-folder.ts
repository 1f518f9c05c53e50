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

/** What makes the file system of a fresh volume not quite empty. */
const OF_THE_VOLUME = 'lost+found'

export interface OwnFolderInput {
  readonly path: string
  /** A file that stands in every folder of ours that was used before. */
  readonly token: string
  /** Names that a start leaves that was cut before it wrote the token. */
  readonly early: RegExp
}

/**
 * Makes the folder where needed and closes it to everybody else.
 * @returns why it must not be used, or null: a link, another user's, or a folder that holds something else.
 * Root would otherwise close such a folder to its users, and read and write files that somebody laid out for
 * it. Throws what the system says when it cannot be made or closed.
 */
export function openOwnFolder(input: OwnFolderInput): string | null {
  makeFolder(input.path)
  const why = whyNotOwn(input)
  if (why === null && (lstatSync(input.path).mode & 0o777) !== 0o700) chmodSync(input.path, 0o700)
  return why
}

/** The same of a folder that is there, which is left as it is. */
export function whyNotOwn(input: OwnFolderInput): string | null {
  const stats = lstatSync(input.path)
  if (stats.isSymbolicLink()) return 'is a link: name the directory itself'
  if (!stats.isDirectory()) return 'is no directory'
  if (!isOwn(stats)) return `belongs to user ${stats.uid}`
  return isOursOrEmpty(input) ? null : 'holds something else'
}

/**
 * Writes a file that only its owner may read, whole or not at all; never through what somebody laid in its
 * way.
 */
export function writePrivate(folder: string, name: string, text: string): void {
  write(folder, name, { text, isSynced: false })
}

/** The same for what must outlast a machine that stops: the file is on the disk before it has its name. */
export function writeDurable(folder: string, name: string, text: string): void {
  write(folder, name, { text, isSynced: true })
  syncFolder(folder)
}

/** Names that came or went in the folder are on the disk when this returns. */
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
    // A full disk would otherwise collect them.
    rmSync(draft, { force: true })
    throw cause
  }
}

/** The text of a file of the folder; null when there is none. */
export function readOwn(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

/** A name beside `file` that nobody can foresee; to be opened with `wx`. */
export function draftOf(file: string): string {
  return `${file}.${randomBytes(8).toString('hex')}`
}

/** Like `recursive: true`, which never returns where a folder refuses with ENOENT, as those of /proc do. */
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
