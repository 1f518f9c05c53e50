import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from '../fleet/step-down.ts'

/** Longest path of a Unix socket in bytes: Linux 108 and macOS 104, the closing zero included. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107

/** Of the folders in the temporary directory. */
export const SOCKET_FOLDER_PREFIX = 'sluice-'

function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX
}

/**
 * Makes an empty 0700 folder for a server's socket: nobody else can reach the server there, nor stand in for
 * it.
 * @param input.at where it is best; the system's temporary directory when that is too deep for a socket
 * @param input.account who runs the server; null = we ourselves Throws when no place is short enough.
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
