import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '../data-directory/own-folder.ts'
import { clusterFolderOf } from './postgres-cluster.ts'
import { isIdentity, isRunning } from '../fleet/process-state.ts'

/**
 * Decision: where root keeps the clusters and programs of embedded Postgres, which the account of lesser
 * rights must reach. It is no folder that the systemd unit or a package uses, so that trying Sluice as root
 * leaves nothing where an installation wants its data.
 */
export const OUTSIDE_DIR = '/var/lib/sluice-postgres'
/** What the names of clusters begin with; beside them lie copies of the programs. */
const CLUSTER_NAMES = 'cluster-'
/** Tells the data directory of a cluster; in the folder of the cluster, for root alone. */
const OWNER_FILE = 'data-directory.json'
/** Tells the supervisor that runs on a cluster. */
export const HOLDER_FILE = 'supervisor.json'

/** A cluster that root made outside of its data directory. */
export interface OutsideCluster {
  readonly folder: string
  /** Null when the cluster does not say, or says what cannot be read. */
  readonly dataDir: string | null
  /** The process id of the supervisor that runs on it, or null. */
  readonly pid: number | null
  /** Whether the data directory is there and names this cluster; one that is not used is found by nothing. */
  readonly isUsed: boolean
}

interface RemoveOptions {
  readonly outsideDir?: string
  readonly force?: boolean
}

/** Notes whose cluster this is: a data directory may have moved since the last start. */
export function noteOwner(folder: string, dataDir: string): void {
  writePrivate(folder, OWNER_FILE, `${JSON.stringify({ data_directory: dataDir })}\n`)
}

/**
 * All clusters in a folder; none where it does not exist. Throws what the system says when it cannot be read.
 */
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

/** Null for a file that is not there or cannot be read. */
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
 * Removes a cluster, and with the last one the copies of the programs beside it. One that is used holds all
 * of a node that has merely stopped.
 * @param options.force also one that is used; one that a process runs on stays in any case
 * @returns why it was left, or null
 */
export async function removeCluster(
  { folder, dataDir, pid, isUsed }: OutsideCluster,
  options: RemoveOptions = {},
): Promise<string | null> {
  const { outsideDir = OUTSIDE_DIR, force = false } = options
  if (pid !== null) return `process ${pid} runs on it`
  if (isUsed && !force)
    return `the data directory ${dataDir} uses it, and a node that has stopped keeps its data there; --force removes it all the same`
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  if ((await outsideClusters(outsideDir)).length === 0) await rm(outsideDir, { recursive: true, force: true })
  return null
}

/** Bytes that the files of a folder take on the disk. */
export async function bytesOnDisk(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  let bytes = 0
  for (const entry of entries) {
    if (!entry.isFile()) continue
    // A file may go between the list and the look.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => null)
    bytes += found === null ? 0 : found.blocks * 512
  }
  return bytes
}
