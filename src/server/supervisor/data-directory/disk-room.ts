import { statfsSync } from 'node:fs'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MIB } from '../../../schemas/limits/limits.ts'
import type { Config } from '../../config.ts'
import { clusterFolderOf } from '../postgres/postgres-cluster.ts'
import { PROBE_FILE } from './data-directory.ts'
import { StartRefused } from '../start-refused.ts'

/** Free bytes below which a disk counts as full: Postgres needs as many for a segment of its log, and stops without them. */
const ROOM_BYTES_MIN = 16 * MIB
/** Bytes that a probe writes to test the disk. Decision. */
const PROBE_BYTES = 65_536
/** Milliseconds between two probes of the disk. Decision. */
const ROOM_LOOK_MS = 5_000

/** Matches the system's codes, and the messages of Postgres and its programs. */
const FULL = /\b(ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/

export interface Disks {
  readonly dataDir: string
  /** Null when files are in a bucket. */
  readonly objects: string | null
}

export function disksOf({ dataDir, objects }: Pick<Config, 'dataDir' | 'objects'>): Disks {
  return { dataDir, objects: objects.kind === 'disk' ? objects.folder : null }
}

/**
 * Returns a function that reports whether the disks of the node have room. It probes them at most every 5 s, and
 * otherwise returns its last result.
 */
export function watchRoom(disks: Disks, now: () => number = () => performance.now()): () => Promise<boolean> {
  let seen = Promise.resolve(true)
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - lookedAt >= ROOM_LOOK_MS) {
      lookedAt = now()
      seen = haveRoom(disks).catch(() => false)
    }
    return seen
  }
}

async function haveRoom(disks: Disks): Promise<boolean> {
  for (const folder of foldersOf(disks)) if (!isRoomy(await statfs(folder))) return false
  // These figures consider neither quotas nor disks that have become read-only.
  const probe = join(disks.dataDir, `${PROBE_FILE}.room`)
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600 })
  } finally {
    await rm(probe, { force: true })
  }
  return true
}

/** The error for a start that failed on a full disk; any other problem stays unchanged. */
export function explainFullDisk(problem: unknown, disks: Disks): unknown {
  if (!isOfFullDisk(problem)) return problem
  const place = foldersOf(disks).find(isFull) ?? disks.dataDir
  return new StartRefused(`the disk of ${place} is full: free space on it and start again`, {
    cause: problem,
  })
}

function isOfFullDisk(problem: unknown): boolean {
  if (!(problem instanceof Error)) return false
  const code = 'code' in problem ? String(problem.code) : ''
  return FULL.test(code) || FULL.test(problem.message) || isOfFullDisk(problem.cause)
}

function foldersOf({ dataDir, objects }: Disks): readonly string[] {
  return [dataDir, clusterFolderOf(dataDir), objects].filter((folder) => folder !== null)
}

function isFull(folder: string): boolean {
  try {
    return !isRoomy(statfsSync(folder))
  } catch {
    return false
  }
}

/** True when a disk has room. Some file systems report no number of files. */
function isRoomy({
  bavail,
  bsize,
  files,
  ffree,
}: {
  bavail: number
  bsize: number
  files: number
  ffree: number
}): boolean {
  return bavail * bsize >= ROOM_BYTES_MIN && (files === 0 || ffree > 0)
}
