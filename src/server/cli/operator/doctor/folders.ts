import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MIB } from '../../../../schemas/limits/limits.ts'
import { PROBE_FILE } from '../../../supervisor/data-directory/data-directory.ts'
import { codeOf, reasonOf } from './finding.ts'

/**
 * Why one of these folders cannot be written to, or null. A file is written through to the disk in each that
 * is there, and taken away again; those that are not made yet are asked whether they could be.
 */
export async function whyNotWritable(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const reason = await whyNot(folder)
    if (reason !== null) return reason
  }
  return null
}

/** What this user may still write where a folder is, or will be made. */
export interface Room {
  readonly bytes: number
  /** Null where there are enough, or the file system makes them as it needs them. */
  readonly inodesLeft: number | null
}

/**
 * Free inodes below which a disk is nearly full whatever bytes it has; of a small file system a twentieth.
 * Decision.
 */
const FREE_INODES_MIN = 50_000
const FREE_INODES_SHARE = 1 / 20

export async function roomAt(folder: string): Promise<Room> {
  const { bavail, bsize, files, ffree } = await statfs((await nearest(folder)).path)
  return {
    bytes: bavail * bsize,
    inodesLeft: ffree < Math.min(FREE_INODES_MIN, files * FREE_INODES_SHARE) ? ffree : null,
  }
}

/** Inodes are told where they are what is short. */
export function roomText({ bytes, inodesLeft }: Room): string {
  return `${Math.floor(bytes / MIB)} MiB${inodesLeft === null ? '' : ` and ${inodesLeft} inodes`} free`
}

async function whyNot(folder: string): Promise<string | null> {
  const { path, isFolder } = await nearest(folder)
  if (!isFolder) return `${path} is no directory`
  try {
    if (path === folder) await writeProbe(path)
    else await access(path, constants.W_OK | constants.X_OK)
    return null
  } catch (cause) {
    const what = path === folder ? `${folder} cannot be written` : `${folder} cannot be made in ${path}`
    return `${what} (${codeOf(cause) ?? reasonOf(cause)})`
  }
}

async function writeProbe(folder: string): Promise<void> {
  const path = join(folder, `${PROBE_FILE}.${randomUUID()}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('./')
    await file.sync()
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

/** The folder itself, or the first one above it that there is. */
async function nearest(folder: string): Promise<{ readonly path: string; readonly isFolder: boolean }> {
  try {
    return { path: folder, isFolder: (await stat(folder)).isDirectory() }
  } catch (cause) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(codeOf(cause) ?? '')
    if (!isMissing || dirname(folder) === folder) throw cause
    return nearest(dirname(folder))
  }
}
