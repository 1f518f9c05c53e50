import { VIDEO_ENDS_AT_ONCE } from '../../../schemas/videos/video-limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { Store, Transaction } from '../base/open.ts'
import { cancellation } from './cancel.ts'
import { book } from './end-batches.ts'
import { OPEN_STATES } from './rows.ts'

/**
 * Removes the videos of a workspace in the transaction that deletes the workspace. No process can claim its
 * open jobs any more, and `endDeletedVideos` ends them: settling the money of many takes longer than a
 * deletion may. Its clips lose their rows, and the sweep removes the bytes.
 */
export async function fenceVideos(tx: Transaction, workspaceId: string): Promise<void> {
  const open = tx.unsafe(`state IN (${OPEN_STATES})`)
  await tx`SELECT 1 FROM video_jobs WHERE workspace_id = ${workspaceId} AND (${open} OR clips_expire_at IS NOT NULL) ORDER BY id FOR UPDATE`
  await tx`UPDATE video_jobs SET attempt = attempt + 1, lease_until = 'infinity' WHERE workspace_id = ${workspaceId} AND ${open}`
  await tx`DELETE FROM video_clips AS c USING video_jobs AS j WHERE j.workspace_id = ${workspaceId} AND c.job_id = j.id`
  await tx`UPDATE video_jobs SET clips_expire_at = NULL WHERE workspace_id = ${workspaceId} AND clips_expire_at IS NOT NULL`
  await tx`DELETE FROM webhook_deliveries WHERE workspace_id = ${workspaceId}`
  await tx`DELETE FROM webhook_secrets WHERE workspace_id = ${workspaceId}`
  await tx`DELETE FROM webhook_disabled WHERE workspace_id = ${workspaceId}`
}

/**
 * Ends open jobs of deleted workspaces; several runs at once do no harm. @returns number of jobs. Throws the
 * errors of Postgres.
 */
export async function endDeletedVideos(store: Store, log: Log): Promise<number> {
  for (let ended = 0; ;) {
    const ids = await openOfDeleted(store)
    // No webhook is sent: the receivers ended with the workspace.
    const rows =
      ids.length === 0 ? [] : await book(store, ids.map(cancellation), { log, origin: null, clipsKeptMs: 0 })
    ended += rows.length
    if (rows.length < VIDEO_ENDS_AT_ONCE) return ended
  }
}

async function openOfDeleted({ sql }: Store): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT j.id FROM video_jobs j JOIN workspaces w ON w.id = j.workspace_id
    WHERE w.deleted_at IS NOT NULL AND j.state IN (${sql.unsafe(OPEN_STATES)}) LIMIT ${VIDEO_ENDS_AT_ONCE}`
  return rows.map(({ id }) => id)
}
