import { outsideClusters, OUTSIDE_DIR } from '../../supervisor/outside-clusters.ts'
import { doubtful, good, type Finding } from './finding.ts'

/** Embedded Postgres that root left outside of data directories that are gone. Others cannot look into its folders. */
export async function clusters(outsideDir = OUTSIDE_DIR, isRoot = process.getuid?.() === 0): Promise<readonly Finding[]> {
  if (!isRoot) return []
  const all = await outsideClusters(outsideDir)
  const unused = all.filter(({ isUsed, pid }) => !isUsed && pid === null)
  if (unused.length === 0) return all.length === 0 ? [] : [good('clusters', `${all.length} in ${outsideDir}, each with its data directory`)]
  const named = unused.map(({ folder, dataDir }) => `${folder}${dataDir === null ? '' : ` (of ${dataDir})`}`).join(', ')
  return [doubtful('clusters', `no data directory names ${named}`, 'if their data is not wanted any more: `sluice clusters remove --unused`')]
}
