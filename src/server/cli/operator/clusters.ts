import { resolve } from 'node:path'
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
export function addClusterVerbs(program: Command): void {
  const clusters = program
    .command('clusters')
    .description('embedded Postgres that a node run as root keeps outside of its data directory')
  addVerb(clusters, 'list', 'list them, with the data directory of each').action(list)
  addVerb(clusters, 'remove', 'remove one, or those whose data directory is gone')
    .argument('[folder]', 'as `clusters list` names it')
    .option('--unused', 'all that no data directory names')
    .option('--force', 'also one that a data directory names, with all that its node keeps in Postgres')
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
    rows.length === 0 ? 'there is none' : table([['CLUSTER', 'DATA DIRECTORY', 'STATE', 'SIZE'], ...rows]),
  )
}

function stateOf({ pid, isUsed }: OutsideCluster): string {
  if (pid !== null) return `in use by process ${pid}`
  return isUsed ? 'used' : 'unused'
}

async function remove(folder: string | undefined, options: Options): Promise<void> {
  const all = await outsideClusters()
  const chosen =
    options.unused === true
      ? all.filter(({ isUsed }) => !isUsed)
      : all.filter((one) => folder !== undefined && one.folder === resolve(folder))
  if (folder === undefined && options.unused !== true)
    throw new CliFailure('name a cluster of `sluice clusters list`, or give --unused')
  if (chosen.length === 0 && folder !== undefined)
    throw new CliFailure(`there is no cluster ${folder}: \`sluice clusters list\` names them`)
  const removed: string[] = []
  const left: string[] = []
  for (const cluster of chosen) {
    const why = await removeCluster(cluster, { force: options.force === true })
    if (why === null) removed.push(cluster.folder)
    else left.push(`${cluster.folder} stays: ${why}`)
  }
  print(options, { removed }, removed.length === 0 ? 'nothing was removed' : `removed ${removed.join(', ')}`)
  if (left.length > 0) throw new CliFailure(left.join('; '))
}
