import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MIB } from '../../../../schemas/limits/limits.ts'
import { PROBE_FILE } from '../../../supervisor/data-directory/data-directory.ts'
import { codeOf, reasonOf } from '../../parts/reasons.ts'

/**
 * The reason why one of these folders cannot be written, or null. An existing folder is tested with a file that
 * is synced and then removed; for a missing folder its parent is tested.
 */
export async function whyNotWritable(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const reason = await whyNot(folder)
    if (reason !== null) return reason
  }
  return null
}

/** The room for this user on the disk of a folder. */
export interface Room {
  readonly bytes: number
  /** Null when there are enough inodes, or the file system creates them on demand. */
  readonly inodesLeft: number | null
}

/** Free inodes below which a disk is nearly full, even if it has free bytes. Decision. */
const FREE_INODES_MIN = 50_000
/** Share of free inodes below which a small file system is nearly full. Decision. */
const FREE_INODES_SHARE = 1 / 20

export async function roomAt(folder: string): Promise<Room> {
  const { bavail, bsize, files, ffree } = await statfs((await nearest(folder)).path)
  return {
    bytes: bavail * bsize,
    inodesLeft: ffree < Math.min(FREE_INODES_MIN, files * FREE_INODES_SHARE) ? ffree : null,
  }
}

/** The room as text; inodes are included when they run short. */
export function roomText({ bytes, inodesLeft }: Room): string {
  return `${Math.floor(bytes / MIB)} MiB${inodesLeft === null ? '' : ` and ${inodesLeft} inodes`} free`
}

async function whyNot(folder: string): Promise<string | null> {
  const { path, isFolder } = await nearest(folder)
  if (!isFolder) return `${path} is not a directory`
  try {
    if (path === folder) await writeProbe(path)
    else await access(path, constants.W_OK | constants.X_OK)
    return null
  } catch (cause) {
    const what = path === folder ? `${folder} cannot be written` : `${folder} cannot be created in ${path}`
    return `${what} (${codeOf(cause) ?? reasonOf(cause)})`
  }
}

async function writeProbe(folder: string): Promise<void> {
  const path = join(folder, `${PROBE_FILE}.${randomUUID()}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('.')
    await file.sync()
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

/** The folder itself, or the nearest existing folder above it. */
async function nearest(folder: string): Promise<{ readonly path: string; readonly isFolder: boolean }> {
  try {
    return { path: folder, isFolder: (await stat(folder)).isDirectory() }
  } catch (cause) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(codeOf(cause) ?? '')
    if (!isMissing || dirname(folder) === folder) throw cause
    return nearest(dirname(folder))
  }
}
