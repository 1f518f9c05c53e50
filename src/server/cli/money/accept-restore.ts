import type { Command } from 'commander'
import { readCount } from '../../journal/kept-count.ts'
import { acceptRestore } from '../../store/money/money-counts.ts'
import { nodeIn } from '../../supervisor/data-directory/data-directory.ts'
import { withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { addVerb, loadGeneration, print, type Printing } from '../parts/verb.ts'

/** `accept-restore`. */
export function addTo(program: Command): void {
  addVerb(
    program,
    'accept-restore',
    'accept paid calls again after restoring Postgres from an older snapshot',
  ).action((options: Printing) => withDatabase((database) => accept(database, options)))
}

async function accept({ store }: DatabaseHandle, options: Printing): Promise<void> {
  const { dataDir } = loadGeneration().config
  const node = nodeIn(dataDir)
  const accepted = await acceptRestore(store.sql, node === null ? null : { node, kept: readCount(dataDir) })
  const lines = accepted.map(
    ({ node, behind }) =>
      `node ${node} accepts paid calls again; Postgres lacks ${behind} of its money entries`,
  )
  const text =
    lines.length > 0 ? lines.join('\n') : 'nothing to accept: no node has money entries that Postgres lacks'
  print(options, { accepted }, text)
}
