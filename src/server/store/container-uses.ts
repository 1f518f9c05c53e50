import { LRUCache } from 'lru-cache'
import { ok } from '../../schemas/failures.ts'
import { CONTAINER_USE_MS } from '../../schemas/limits.ts'
import type { ContainerUses } from '../ports/files.ts'
import type { Store } from './open.ts'
import { reach } from './translate.ts'

/** Containers whose use this process has written lately. Decision. */
const REMEMBERED_MAX = 10_000

/** When containers were last used through Sluice: at most one write an hour for each, whatever is asked of them. */
export function openContainerUses(store: Store): ContainerUses {
  const written = new LRUCache<string, true>({ max: REMEMBERED_MAX, ttl: CONTAINER_USE_MS })
  return {
    touch: (workspaceId, containerId) => reach(async () => {
      const name = `${workspaceId}/${containerId}`
      if (written.has(name)) return ok(null)
      await store.sql`
        INSERT INTO container_uses (workspace_id, container_id) VALUES (${workspaceId}, ${containerId})
        ON CONFLICT (workspace_id, container_id) DO UPDATE SET used_at = clock_timestamp()
        WHERE container_uses.used_at < clock_timestamp() - ${CONTAINER_USE_MS} * interval '1 ms'`
      written.set(name, true)
      return ok(null)
    }),
    lastUses: (workspaceId, containerIds) => reach(async () => {
      if (containerIds.length === 0) return ok(new Map())
      const { sql } = store
      const rows = await sql<{ container_id: string; used_at: Date }[]>`
        SELECT container_id, used_at FROM container_uses WHERE workspace_id = ${workspaceId} AND container_id IN ${sql([...containerIds])}`
      return ok(new Map(rows.map((row) => [row.container_id, row.used_at])))
    }),
    forget: (workspaceId, containerId, unusedSince) => reach(async () => {
      const rows = await store.sql<{ isGone: boolean }[]>`
        WITH gone AS (
          DELETE FROM container_uses
          WHERE workspace_id = ${workspaceId} AND container_id = ${containerId} AND used_at <= ${unusedSince} RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM gone) OR NOT EXISTS (
          SELECT 1 FROM container_uses WHERE workspace_id = ${workspaceId} AND container_id = ${containerId}) AS "isGone"`
      written.delete(`${workspaceId}/${containerId}`)
      return ok(rows[0]?.isGone === true)
    }),
  }
}
