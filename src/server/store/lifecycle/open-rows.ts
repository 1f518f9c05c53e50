import { OPEN_STATES } from '../videos/rows.ts'
import type { Store } from '../base/open.ts'

/** Kinds of rows that a runner works on. */
export type OpenKind = 'videos' | 'webhooks' | 'syncs'
type OpenKinds = Readonly<Record<OpenKind, boolean>>

/** Resolves to true when there are rows with work left, due or not; rejects when the store cannot answer. */
export type LookForOpen = (kind: OpenKind) => Promise<boolean>

/**
 * Checks for rows that wait for a runner. The checks of one turn of the event loop share a statement, which
 * costs less than three claims that find nothing.
 */
export function openRowsLook(store: Pick<Store, 'sql'>): LookForOpen {
  let found: Promise<OpenKinds> | null = null
  const look = (): Promise<OpenKinds> =>
    new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      // Rows inserted from now on may be missed, so the next check sends a new statement.
      found = null
      return read(store)
    })
  return async (kind) => (await (found ??= look()))[kind]
}

/** The wanted rows are first in each index, and the ORDER BY makes the planner use it. */
async function read({ sql }: Pick<Store, 'sql'>): Promise<OpenKinds> {
  const [row] = await sql<OpenKinds[]>`
    SELECT
      (SELECT 1 FROM video_jobs WHERE state IN (${sql.unsafe(OPEN_STATES)})
        ORDER BY provider, workspace_id, lease_until LIMIT 1) IS NOT NULL AS videos,
      (SELECT 1 FROM webhook_deliveries WHERE state = 'waiting'
        ORDER BY host, workspace_id, lease_until LIMIT 1) IS NOT NULL AS webhooks,
      (SELECT 1 FROM scim_sync_jobs WHERE state IN ('queued', 'running')
        ORDER BY lease_until LIMIT 1) IS NOT NULL AS syncs`
  if (row === undefined) throw new Error('the statement returned no row')
  return row
}
