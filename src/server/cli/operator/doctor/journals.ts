import type { Config } from '../../../config.ts'
import { readCount } from '../../../journal/kept-count.ts'
import { journalsFolder, segmentFiles } from '../../../journal/segments.ts'
import { abandoned, openJournals, type OpenJournal } from '../../../store/nodes/journals.ts'
import { stepsBehind } from '../../../store/money/money-counts.ts'
import type { Queryable } from '../../../store/base/open.ts'
import { nodeIn } from '../../../supervisor/data-directory/data-directory.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'

/** A problem where Postgres is older than the data directory: paid calls are refused. */
export async function money(
  sql: Queryable,
  { dataDir }: Pick<Config, 'dataDir'>,
): Promise<readonly Finding[]> {
  const node = nodeIn(dataDir)
  const behind = node === null ? 0 : await stepsBehind(sql, { node, kept: readCount(dataDir) })
  if (behind === 0) return []
  const detail = `Postgres lacks ${behind} money entries of the data directory, as after a restore: paid calls are refused`
  return [
    bad(
      'money',
      detail,
      'compare the ledger with the bills of your providers, then run `sluice accept-restore`',
    ),
  ]
}

/**
 * Warns about nodes whose fronts hold money that no process will return: for this node those whose journal
 * has no file, for others those without a live front. Design §6.
 */
export async function journals(
  sql: Queryable,
  { dataDir }: Pick<Config, 'dataDir'>,
): Promise<readonly Finding[]> {
  const open = await openJournals(sql)
  const own = nodeIn(dataDir)
  const files = new Set(segmentFiles(journalsFolder(dataDir)).map(({ id }) => id))
  const gone = abandoned(open, { own, files })
  if (gone.length === 0)
    return [
      good('journals', `open journals: ${open.length}; each has a running front process or a journal file`),
    ]
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
  const what = `${those.length} open ${those.length === 1 ? 'journal' : 'journals'} (oldest from ${since})`
  const close = `run \`sluice ledger close-node ${node}\``
  if (!isOwn)
    return doubtful(
      'journals',
      `node ${node} has no running front but ${what}`,
      `start the node; if the node is lost for good, ${close}`,
    )
  const fix = those.some(({ isNodeLive }) => isNodeLive) ? `stop the node, then ${close}` : close
  return doubtful(
    'journals',
    `this node lacks the files of ${what}: the money in these journals stays reserved`,
    fix,
  )
}
