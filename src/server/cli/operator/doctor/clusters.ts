import { outsideClusters, OUTSIDE_DIR } from '../../../supervisor/postgres/outside-clusters.ts'
import { good, type Finding } from './finding.ts'

/**
 * Findings about embedded Postgres that root keeps for data directories that are gone. Such a cluster only
 * takes disk space, so that the finding is no warning. Only root can read the folders.
 */
export async function clusters(
  outsideDir = OUTSIDE_DIR,
  isRoot = process.getuid?.() === 0,
): Promise<readonly Finding[]> {
  if (!isRoot) return []
  const all = await outsideClusters(outsideDir)
  const unused = all.filter(({ isUsed, pid }) => !isUsed && pid === null)
  if (unused.length === 0)
    return all.length === 0
      ? []
      : [
          good(
            'clusters',
            `Postgres clusters in ${outsideDir}: ${all.length}; the data directory of each exists`,
          ),
        ]
  const named = unused
    .map(({ folder, dataDir }) => `${folder}${dataDir === null ? '' : ` (of ${dataDir})`}`)
    .join(', ')
  return [
    good(
      'clusters',
      `clusters whose data directory is gone: ${named}; \`sluice clusters remove --unused\` deletes all of them`,
    ),
  ]
}
