import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ok } from '../../../schemas/failures.ts'
import { CONTAINER_USE_MS, UPLOAD_LEASE_MS, UPLOAD_RENEW_MS } from '../../../schemas/files/file-limits.ts'
import type { ContainerUses } from '../../ports/containers/container-rows.ts'
import type { ContainerRef } from '../../ports/files/storage.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'

/** Containers whose recent use this process has written. Decision. */
const REMEMBERED_MAX = 10_000

/** Times of the last use of containers through Sluice: at most one write an hour for each container, even if it is used often. */
export function openContainerUses(store: Store): ContainerUses {
  const written = new LRUCache<string, true>({ max: REMEMBERED_MAX, ttl: CONTAINER_USE_MS })
  return {
    touch: (workspaceId, containerId) =>
      reach(async () => {
        const name = `${workspaceId}/${containerId}`
        if (written.has(name)) return ok(null)
        await store.sql`
        INSERT INTO container_uses (workspace_id, container_id) VALUES (${workspaceId}, ${containerId})
        ON CONFLICT (workspace_id, container_id) DO UPDATE SET used_at = clock_timestamp()
        WHERE container_uses.used_at < clock_timestamp() - ${CONTAINER_USE_MS} * interval '1 ms'`
        written.set(name, true)
        return ok(null)
      }),
    lastUses: (workspaceId, containerIds) =>
      reach(async () => {
        if (containerIds.length === 0) return ok(new Map())
        const { sql } = store
        const rows = await sql<{ container_id: string; used_at: Date }[]>`
        SELECT container_id, used_at FROM container_uses WHERE workspace_id = ${workspaceId} AND container_id IN ${sql([...containerIds])}`
        return ok(new Map(rows.map((row) => [row.container_id, row.used_at])))
      }),
    isOfDeleted: (workspaceId) =>
      reach(async () => {
        const rows =
          await store.sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId} AND deleted_at IS NOT NULL`
        return ok(rows.length > 0)
      }),
    async removal(container, unusedSince, remove) {
      const id = randomUUID()
      const claimed = await reach(async () => ok(await claim(store.sql, container, { id, unusedSince })))
      if (!claimed.ok) return claimed
      if (!claimed.value) return ok(null)
      const renewing = setInterval(
        () => void renew(store.sql, container, id).catch(() => undefined),
        UPLOAD_RENEW_MS,
      ).unref()
      try {
        return await remove()
      } finally {
        clearInterval(renewing)
        written.delete(`${container.workspaceId}/${container.containerId}`)
        // When this fails, the removal ends with its lease.
        await reach(async () => ok(await end(store.sql, container, id)))
      }
    },
  }
}

interface RemovalInput {
  readonly id: string
  readonly unusedSince: Date
}

/** In a workspace without a row no caller can write, and no claim can be stored. */
async function claim(
  sql: Queryable,
  { workspaceId, containerId }: ContainerRef,
  { id, unusedSince }: RemovalInput,
): Promise<boolean> {
  const [row] = await sql<{ isClaimed: boolean }[]>`
    WITH known AS (SELECT id FROM workspaces WHERE id = ${workspaceId}), claimed AS (
      INSERT INTO container_uses (workspace_id, container_id, used_at, removal_id, removing_until)
      SELECT id, ${containerId}, ${unusedSince}::timestamptz, ${id}::uuid, ${leaseEnd(sql)} FROM known
      ON CONFLICT (workspace_id, container_id) DO UPDATE SET removal_id = EXCLUDED.removal_id, removing_until = EXCLUDED.removing_until
      WHERE container_uses.used_at <= ${unusedSince}
        AND (container_uses.removing_until IS NULL OR container_uses.removing_until < clock_timestamp())
      RETURNING 1)
    SELECT EXISTS (SELECT 1 FROM claimed) OR NOT EXISTS (SELECT 1 FROM known) AS "isClaimed"`
  return row?.isClaimed === true
}

async function renew(sql: Queryable, { workspaceId, containerId }: ContainerRef, id: string): Promise<void> {
  await sql`
    UPDATE container_uses SET removing_until = ${leaseEnd(sql)}
    WHERE workspace_id = ${workspaceId} AND container_id = ${containerId} AND removal_id = ${id}`
}

async function end(sql: Queryable, { workspaceId, containerId }: ContainerRef, id: string): Promise<null> {
  await sql`DELETE FROM container_uses WHERE workspace_id = ${workspaceId} AND container_id = ${containerId} AND removal_id = ${id}`
  return null
}

function leaseEnd(sql: Queryable) {
  return sql`clock_timestamp() + ${UPLOAD_LEASE_MS} * interval '1 ms'`
}
