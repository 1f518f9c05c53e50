import { ok } from '../../../schemas/failures.ts'
import { CONTAINER_KEPT_MS, UPLOAD_LEASE_MS } from '../../../schemas/files/file-limits.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import type { FileSweep, StaleUpload } from '../../ports/files/files.ts'
import { endOfDeadFronts, goneFronts, claimStale } from './dead-fronts.ts'
import { fileRows, listFiles } from './file-rows.ts'
import { removeRow } from './files.ts'
import type { Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { clipPage, clipsAmong } from '../videos/clip-objects.ts'

/** Ends rows of uploads and files for the sweep. Design §5. */
export function openFileSweep(store: Store): FileSweep {
  return {
    claimStale: (countMax) =>
      reach(async () => {
        await endOfDeadFronts(store.sql)
        const claimed: StaleUpload[] = []
        for (const id of await fileRows.due(store.sql, countMax)) {
          const stale = await store.sql.begin((tx) => claimStale(tx, id, UPLOAD_LEASE_MS))
          if (stale !== null) claimed.push(stale)
        }
        return ok(claimed)
      }),
    goneFronts: (ids) => reach(async () => ok(await goneFronts(store.sql, ids))),
    forget: ({ id, attempt }) =>
      reach(async () => {
        const { count } =
          await store.sql`DELETE FROM files WHERE id = ${id} AND attempt = ${attempt} AND state = 'abandoned'`
        return ok(count === 1)
      }),
    removeExpired: (countMax) =>
      reach(async () => {
        const due = await store.sql<{ id: string; workspace_id: string }[]>`
        SELECT id, workspace_id FROM files WHERE state = 'ready' AND expires_at IS NOT NULL AND expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT ${countMax}`
        const removed: string[] = []
        for (const { id, workspace_id: workspaceId } of due) {
          if ((await store.sql.begin((tx) => removeRow(tx, { workspaceId, id, isDue: true }))) !== null)
            removed.push(id)
        }
        return ok(removed)
      }),
    withoutRow: (ids) =>
      reach(async () => {
        if (ids.length === 0) return ok([])
        const { sql } = store
        const rows = await sql<
          { id: string }[]
        >`SELECT id FROM files WHERE id IN ${sql([...ids])} AND state <> 'deleted'`
        const known = new Set([...rows.map(({ id }) => id), ...(await clipsAmong(sql, ids))])
        return ok(ids.filter((id) => !known.has(id)))
      }),
    page: (after, countMax) => reach(async () => ok(await listFiles(store.sql, null, { after, countMax }))),
    clips: (after, countMax) => reach(async () => ok(await clipPage(store.sql, after, countMax))),
    expire: () => reach(async () => ok(await expire(store))),
  }
}

async function expire({ sql }: Store): Promise<number> {
  const isOld = sql`ready_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms'`
  const removed = await sql`DELETE FROM files WHERE state = 'deleted' AND ${isOld}`
  const cleared = await sql`
    UPDATE files SET idempotency_id = NULL, request_digest = NULL WHERE state = 'ready' AND idempotency_id IS NOT NULL AND ${isOld}`
  // Uses this old keep no container, whether or not it still exists.
  await sql`
    DELETE FROM container_uses WHERE used_at < clock_timestamp() - ${CONTAINER_KEPT_MS} * interval '1 ms'
      AND (removing_until IS NULL OR removing_until < clock_timestamp())`
  return removed.count + cleared.count
}
