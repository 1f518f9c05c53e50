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
 * Writes the file of the first key, unless there is one: of many that make one at once the first wins.
 * @returns whether it is the one that stands there
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
 * Whole at every moment, for the owner of the one before alone, and on the disk when this returns. Whoever
 * calls sees to it that nobody else does.
 */
export function replaceKeyFile(path: string, text: string): void {
  writeKeyFile(path, text, path)
}

/** The same where there may be none before. @param like a file or folder of whoever shall own it */
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
    // Written by root, it must be readable to the user whose node it is: this very file, not what that user
    // lays in its place.
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
