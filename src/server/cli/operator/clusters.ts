import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import { MIB } from '../../../schemas/limits/limits.ts'
import {
  bytesOnDisk,
  outsideClusters,
  removeCluster,
  type OutsideCluster,
} from '../../supervisor/postgres/outside-clusters.ts'
import { addVerb, CliFailure, print, table } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly unused?: true
  readonly force?: true
}

/** `clusters list`, `clusters remove`: embedded Postgres that root keeps outside of the data directories. */
export function addTo(program: Command): void {
  const clusters = program
    .command('clusters')
    .description('manage the embedded Postgres data of nodes that run as root')
  addVerb(clusters, 'list', 'list clusters with their data directories').action(list)
  addVerb(clusters, 'remove', 'delete one cluster, or all clusters whose data directory is gone')
    .argument('[cluster]', 'folder from `clusters list`, or the last part of its path')
    .option('--unused', 'delete all clusters whose data directory is gone')
    .option('--force', 'also delete a cluster that a data directory uses, with all its data')
    .action(remove)
}

async function list(options: Options): Promise<void> {
  const found = await Promise.all(
    (await outsideClusters()).map(async (cluster) => ({
      ...cluster,
      bytes: await bytesOnDisk(cluster.folder),
    })),
  )
  const data = found.map(({ folder, dataDir, pid, isUsed, bytes }) => ({
    folder,
    data_directory: dataDir,
    pid,
    used: isUsed,
    bytes,
  }))
  const rows = found.map((cluster) => [
    cluster.folder,
    cluster.dataDir ?? '-',
    stateOf(cluster),
    `${Math.ceil(cluster.bytes / MIB)} MiB`,
  ])
  print(
    options,
    { data },
    rows.length === 0 ? 'no clusters' : table([['CLUSTER', 'DATA DIRECTORY', 'STATE', 'SIZE'], ...rows]),
  )
}

function stateOf({ pid, isUsed }: OutsideCluster): string {
  if (pid !== null) return `in use by process ${pid}`
  return isUsed ? 'used' : 'unused'
}

/** @param name a path, or the last part of it */
export function isNamed({ folder }: Pick<OutsideCluster, 'folder'>, name: string): boolean {
  return folder === resolve(name) || basename(folder) === name
}

async function remove(folder: string | undefined, options: Options): Promise<void> {
  const all = await outsideClusters()
  const chosen =
    options.unused === true
      ? all.filter(({ isUsed }) => !isUsed)
      : all.filter((one) => folder !== undefined && isNamed(one, folder))
  if (folder === undefined && options.unused !== true)
    throw new CliFailure('give a cluster from `sluice clusters list`, or --unused')
  if (chosen.length === 0 && folder !== undefined)
    throw new CliFailure(`there is no cluster ${folder}: see \`sluice clusters list\``)
  const removed: string[] = []
  const left: string[] = []
  for (const cluster of chosen) {
    const why = await removeCluster(cluster, { force: options.force === true })
    if (why === null) removed.push(cluster.folder)
    else left.push(`${cluster.folder} stays: ${why}`)
  }
  print(options, { removed }, removed.length === 0 ? 'nothing was deleted' : `removed ${removed.join(', ')}`)
  if (left.length > 0) throw new CliFailure(left.join('; '))
}
