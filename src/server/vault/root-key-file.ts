import { randomBytes, randomUUID } from 'node:crypto'
import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes the file of the first key, unless the file exists: of several processes that make one at once, the first
 * succeeds.
 * @returns whether this call made the file
 */
export function makeKeyFile(path: string, text: string): boolean {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = draftOf(path)
  let isMade = true
  try {
    writeAndSync(draft, text)
    linkSync(draft, path)
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause
    isMade = false
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(folder)
  return isMade
}

/**
 * Replaces a file and keeps its owner. The file is complete at every moment and on the disk when this returns. The
 * caller ensures that no other process replaces it at the same time.
 */
export function replaceKeyFile(path: string, text: string): void {
  writeKeyFile(path, text, path)
}

/** Writes a file that may not exist yet; it is complete at every moment. @param like a file or folder whose owner the file gets */
export function writeKeyFile(path: string, text: string, like: string): void {
  const draft = draftOf(path)
  try {
    writeAndSync(draft, text, statSync(like))
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

/** 32 random bytes. */
export function newRootKey(): Buffer {
  return randomBytes(32)
}

export function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code
}

function draftOf(path: string): string {
  return `${path}.${randomUUID()}`
}

function writeAndSync(path: string, text: string, owner?: Pick<Stats, 'uid' | 'gid'>): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    // A file that root wrote must be readable to the user of the node. The handle refers to this very file, even if the
    // user replaces the file at its path.
    if (owner !== undefined && owner.uid !== process.getuid?.()) fchownSync(file, owner.uid, owner.gid)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
