import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import { journalsFolder, segmentFiles } from '../../../journal/segments.ts'
import { abandoned, openJournals, type OpenJournal } from '../../../store/nodes/journals.ts'
import type { Queryable } from '../../../store/base/open.ts'
import { NODE_FILE } from '../../../supervisor/data-directory/data-directory.ts'
import { doubtful, good, type Finding } from './finding.ts'

/**
 * Warns about nodes whose fronts hold money that no process will return: for this node those whose journal
 * has no file, for others those without a live front. Design §6.
 */
export async function journals(
  sql: Queryable,
  { dataDir }: Pick<Config, 'dataDir'>,
): Promise<readonly Finding[]> {
  const open = await openJournals(sql)
  const own = nodeOf(dataDir)
  const files = new Set(segmentFiles(journalsFolder(dataDir)).map(({ id }) => id))
  const gone = abandoned(open, { own, files })
  if (gone.length === 0) return [good('journals', `${open.length} open, none without its front or file`)]
  const nodes = [...new Set(gone.map(({ node }) => node))]
  return nodes.map((node) =>
    findingOf(
      node,
      gone.filter((one) => one.node === node),
      node === own,
    ),
  )
}

function findingOf(node: string, those: readonly OpenJournal[], isOwn: boolean): Finding {
  const since = those[0]?.openedAt.toISOString() ?? ''
  const what = `${those.length} ${those.length === 1 ? 'journal' : 'journals'} open, the oldest since ${since}`
  const close = `\`sluice ledger close-node ${node}\``
  if (!isOwn)
    return doubtful(
      'journals',
      `node ${node} has no live front, and ${what}`,
      `start the node; if it never comes back, ${close}`,
    )
  const fix = those.some(({ isNodeLive }) => isNodeLive) ? `end the node, then ${close}` : close
  return doubtful('journals', `this node has no file of ${what}: what they hold stays lent`, fix)
}

function nodeOf(dataDir: string): string | null {
  try {
    return readFileSync(join(dataDir, NODE_FILE), 'utf8').trim()
  } catch {
    return null
  }
}
