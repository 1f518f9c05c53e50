import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '../data-directory/own-folder.ts'
import { clusterFolderOf } from './postgres-cluster.ts'
import { isIdentity, isRunning } from '../fleet/process-state.ts'

/**
 * Folder in which root keeps the clusters and programs of embedded Postgres, which the less privileged account must be
 * able to reach. Neither the systemd unit nor a package uses this folder, so that a trial of Sluice as root leaves no
 * files where an installation stores its data. Decision.
 */
export const OUTSIDE_DIR = '/var/lib/sluice-postgres'
/** Prefix of the names of clusters; copies of the programs lie next to them. */
const CLUSTER_NAMES = 'cluster-'
/** File that names the data directory of a cluster; in the folder of the cluster, readable for root only. */
const OWNER_FILE = 'data-directory.json'
/** File that names the supervisor of a running cluster. */
export const HOLDER_FILE = 'supervisor.json'

/** A cluster that root created outside of its data directory. */
export interface OutsideCluster {
  readonly folder: string
  /** Null when the cluster has no readable record of its data directory. */
  readonly dataDir: string | null
  /** The process id of the supervisor that runs on the cluster, or null. */
  readonly pid: number | null
  /** True when the data directory exists and names this cluster; otherwise no node can find the cluster. */
  readonly isUsed: boolean
}

interface RemoveOptions {
  readonly outsideDir?: string
  readonly force?: boolean
}

/** Records the data directory of the cluster, which may have moved since the last start. */
export function noteOwner(folder: string, dataDir: string): void {
  writePrivate(folder, OWNER_FILE, `${JSON.stringify({ data_directory: dataDir })}\n`)
}

/** All clusters in a folder; none where the folder does not exist. Throws the system's error when the folder cannot be read. */
export async function outsideClusters(outsideDir = OUTSIDE_DIR): Promise<readonly OutsideCluster[]> {
  const names = await readdir(outsideDir).catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    throw cause
  })
  return Promise.all(
    names
      .filter((name) => name.startsWith(CLUSTER_NAMES))
      .sort()
      .map((name) => clusterAt(join(outsideDir, name))),
  )
}

async function clusterAt(folder: string): Promise<OutsideCluster> {
  const [owner, holder] = await Promise.all([jsonIn(folder, OWNER_FILE), jsonIn(folder, HOLDER_FILE)])
  const dataDir = hasDataDirectory(owner) ? owner.data_directory : null
  return {
    folder,
    dataDir,
    pid: isIdentity(holder) && isRunning(holder) ? holder.pid : null,
    isUsed: dataDir !== null && clusterFolderOf(dataDir) === folder,
  }
}

/** Null for a file that does not exist or cannot be read. */
async function jsonIn(folder: string, name: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(folder, name), 'utf8'))
  } catch {
    return null
  }
}

function hasDataDirectory(value: unknown): value is { readonly data_directory: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'data_directory' in value &&
    typeof value.data_directory === 'string'
  )
}

/**
 * Removes a cluster, and with the last one the copies of the programs next to it. A used cluster may hold all data of a
 * node that is merely stopped.
 * @param options.force true: removes a used cluster too, but never one that a process runs on
 * @returns why the cluster was left, or null
 */
export async function removeCluster(
  { folder, dataDir, pid, isUsed }: OutsideCluster,
  options: RemoveOptions = {},
): Promise<string | null> {
  const { outsideDir = OUTSIDE_DIR, force = false } = options
  if (pid !== null) return `process ${pid} is using this cluster`
  if (isUsed && !force)
    return `the stopped node with the data directory ${dataDir} stores its data in this cluster; --force deletes the cluster anyway`
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  if ((await outsideClusters(outsideDir)).length === 0) await rm(outsideDir, { recursive: true, force: true })
  return null
}

/** Disk usage of the files of a folder, in bytes. */
export async function bytesOnDisk(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  let bytes = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    // A file may be deleted between the list and this call.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => null)
    bytes += found === null ? 0 : found.blocks * 512
  }
  return bytes
}
