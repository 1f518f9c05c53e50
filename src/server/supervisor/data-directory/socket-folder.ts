import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from '../fleet/step-down.ts'

/** Longest path of a Unix socket in bytes: Linux allows 108 and macOS 104, including the final zero. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107

export const SOCKET_FOLDER_PREFIX = 'sluice-'

function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX
}

/**
 * Creates an empty 0700 folder for a server's socket: no other user can reach the server there or impersonate
 * it.
 * @param input.at preferred place; the system's temporary directory when its path is too long for a socket
 * @param input.account account of the server; null = the account of this process
 * Throws when no place is short enough.
 */
export function makeSocketFolder(input: {
  at: string | null
  socket: string
  account: Account | null
}): string {
  const folder = placeOf(input)
  if (input.account !== null) chownSync(folder, input.account.uid, input.account.gid)
  return folder
}

function placeOf({ at, socket }: { at: string | null; socket: string }): string {
  if (at !== null && fitsSocket(join(at, socket))) {
    rmSync(at, { recursive: true, force: true })
    mkdirSync(at, { mode: 0o700 })
    return at
  }
  for (const parent of [tmpdir(), '/tmp']) {
    if (fitsSocket(join(parent, `${SOCKET_FOLDER_PREFIX}XXXXXX`, socket)))
      return mkdtempSync(join(parent, SOCKET_FOLDER_PREFIX))
  }
  throw new Error(`no temporary directory is short enough for a Unix socket (${SOCKET_PATH_BYTES_MAX} bytes)`)
}
