import type { KeptCount } from '../../ports/money/lending.ts'
import type { Queryable } from '../base/open.ts'

/** Postgres is older than the data directory of this node: it was restored from a snapshot. */
export class PostgresOlder extends Error {
  constructor(behind: number) {
    super(
      `Postgres lacks ${behind} of this node's money transfers: it was restored from an older ` +
        'snapshot. Paid calls are refused until you run `sluice accept-restore`',
    )
  }
}

/** A node whose data directory is ahead of Postgres. */
export interface NodeBehind {
  readonly node: string
  /** Steps of its money counter that are missing in Postgres. */
  readonly behind: number
}

/**
 * Increments the money counter of a node, in a transaction that moves its money. To be called last, since the
 * row is locked until the commit. Rows are never removed: without its row, a node that is started again after
 * a year would find Postgres older than its data directory and refuse paid calls. The row of a node that never
 * returns takes only about 60 bytes.
 */
export async function raiseCount(tx: Queryable, node: string): Promise<number> {
  const [row] = await tx<{ n: string }[]>`
    INSERT INTO money_counts (node, n) VALUES (${node}, 1)
    ON CONFLICT (node) DO UPDATE SET n = money_counts.n + 1 RETURNING n::text`
  return Number(row?.n)
}

/** Throws `PostgresOlder`, after it has recorded the number of the data directory for `accept-restore`. */
export async function checkCount(sql: Queryable, { node, read }: KeptCount): Promise<void> {
  const kept = read()
  const behind = await stepsBehind(sql, { node, kept })
  if (behind === 0) return
  await sql`
    INSERT INTO money_counts (node, wanted) VALUES (${node}, ${kept})
    ON CONFLICT (node) DO UPDATE SET wanted = ${kept} WHERE money_counts.wanted IS DISTINCT FROM ${kept}`
  throw new PostgresOlder(behind)
}

/** @param kept number stored in the node's data directory */
export async function stepsBehind(
  sql: Queryable,
  { node, kept }: { readonly node: string; readonly kept: number },
): Promise<number> {
  if (kept === 0) return 0
  const [row] = await sql<{ n: string }[]>`SELECT n::text FROM money_counts WHERE node = ${node}`
  return Math.max(0, kept - Number(row?.n ?? 0))
}

/**
 * Lets the given node and every refused node continue with the present state of Postgres.
 * @returns the nodes for which Postgres was too old
 */
export async function acceptRestore(
  sql: Queryable,
  own: { readonly node: string; readonly kept: number } | null,
): Promise<readonly NodeBehind[]> {
  const rows = await sql<{ node: string; behind: string }[]>`
    WITH ahead (node, kept) AS (
      SELECT node, wanted FROM money_counts WHERE wanted IS NOT NULL
      UNION ALL SELECT ${own?.node ?? ''}, ${own?.kept ?? 0}::bigint),
    wanted AS (
      SELECT a.node, max(a.kept) AS kept, coalesce(max(c.n), 0) AS n
      FROM ahead a LEFT JOIN money_counts c ON c.node = a.node GROUP BY a.node),
    accepted AS (
      INSERT INTO money_counts AS counts (node, n) SELECT node, kept FROM wanted WHERE kept > n
      ON CONFLICT (node) DO UPDATE SET n = greatest(counts.n, excluded.n))
    SELECT node, (kept - n)::text AS behind FROM wanted WHERE kept > n ORDER BY node`
  return rows.map(({ node, behind }) => ({ node, behind: Number(behind) }))
}
