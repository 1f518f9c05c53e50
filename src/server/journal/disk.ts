import { closeSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * The disk operations of a journal, each by itself so that tests can inject faults between them. Each throws
 * as `node:fs` does.
 */
export interface JournalDisk {
  /**
   * Creates an empty file that only its owner may read, and its folder when missing.
   * @returns its descriptor
   */
  create(path: string): number
  /** @returns the bytes written, possibly fewer */
  write(file: number, bytes: Buffer, length: number, position: number): number
  truncate(file: number, length: number): void
  rename(from: string, to: string): void
  remove(path: string): void
  close(file: number): void
}

export const LOCAL_DISK: JournalDisk = {
  create(path) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return openSync(path, 'w', 0o600)
  },
  write: (file, bytes, length, position) => writeSync(file, bytes, 0, length, position),
  truncate: ftruncateSync,
  rename: renameSync,
  remove: (path) => rmSync(path, { force: true }),
  close: closeSync,
}
