import { randomUUID } from 'node:crypto'
import { ok } from '../../schemas/failures.ts'
import { CONTAINER_USE_MS } from '../../schemas/file-limits.ts'
import type { ClaimWish, ContainerSizes, CountedPath, DueWish, PathClaim } from '../ports/container-rows.ts'
import type { Held } from './file-quota.ts'
import type { Queryable, Store, Transaction } from './open.ts'
import { reach } from './translate.ts'

/*
 * Bytes of container files in the workspace's quota, one row for each path. Rows are locked in the order upload, container,
 * path, workspace. A write counts the larger of the old and the new file before it publishes, and what lies there after it:
 * at no moment is less counted than was put, wherever a process ends.
 */

interface SizeRow {
  readonly size_bytes: string
  readonly claim_id: string
  readonly isBusy: boolean
}

interface RowKey {
  readonly workspaceId: string
  readonly containerId: string
  readonly path: string
}

type Tried = PathClaim | 'lost' | 'taken'

export function openContainerSizes(store: Store): ContainerSizes {
  return {
    release: (claim, sizeBytes) => reach(async () => ok(await store.sql.begin((tx) => release(tx, claim, sizeBytes)))),
    due: (wish) => reach(async () => ok(await duePaths(store.sql, wish))),
    recount: (path, sizeBytes) => reach(async () => ok(await store.sql.begin((tx) => recount(tx, path, sizeBytes)))),
  }
}

/**
 * Turns a reservation into a claim of the path, and ends the upload's row.
 * @returns `lost` when the row is no longer ours; `taken` when another write has the path or a removal the container
 */
export async function claimPath(
  tx: Transaction, upload: Held & { readonly workspaceId: string }, { to, leaseMs }: { readonly to: ClaimWish; readonly leaseMs: number },
): Promise<Tried> {
  const [held] = await tx<{ reserved_bytes: string }[]>`
    SELECT reserved_bytes FROM files WHERE id = ${upload.id} AND attempt = ${upload.attempt} AND state = 'pending' FOR UPDATE`
  if (held === undefined) return 'lost'
  if (to.sizeBytes > Number(held.reserved_bytes)) throw new RangeError('a write claims what it has not reserved')
  const claim = {
    workspaceId: upload.workspaceId, containerId: to.containerId, path: to.path, sizeBytes: to.sizeBytes, claimId: randomUUID(),
  }
  if (!(await enterContainer(tx, claim))) return 'taken'
  const row = await lockRow(tx, claim, true)
  if (row?.isBusy !== false) return 'taken'
  const before = Number(row.size_bytes)
  const counted = Math.max(before, to.sizeBytes)
  await tx`
    UPDATE container_files SET size_bytes = ${counted}, claim_id = ${claim.claimId},
      front_id = (SELECT front_id FROM files WHERE id = ${upload.id}),
      writing_until = clock_timestamp() + ${leaseMs} * interval '1 ms' WHERE ${at(tx, claim)}`
  await tx`
    UPDATE workspace_storage SET used_bytes = used_bytes + ${counted - before}, reserved_bytes = reserved_bytes - ${held.reserved_bytes}
    WHERE workspace_id = ${upload.workspaceId}`
  await tx`DELETE FROM files WHERE id = ${upload.id}`
  return claim
}

/**
 * Notes a use that a removal sees. The lock of a row whose use is old puts the two in order; one whose use is young is not
 * removed, and is not written again. @returns false while a removal has the container
 */
async function enterContainer(tx: Transaction, { workspaceId, containerId }: RowKey): Promise<boolean> {
  const isYoung = tx`container_uses.used_at >= clock_timestamp() - ${CONTAINER_USE_MS} * interval '1 ms'`
  const isFree = tx`(container_uses.removing_until IS NULL OR container_uses.removing_until < clock_timestamp())`
  const [row] = await tx<{ hasEntered: boolean }[]>`
    WITH entered AS (
      INSERT INTO container_uses (workspace_id, container_id) VALUES (${workspaceId}, ${containerId})
      ON CONFLICT (workspace_id, container_id) DO UPDATE SET used_at = clock_timestamp()
      WHERE ${isFree} AND NOT (${isYoung}) RETURNING 1)
    SELECT EXISTS (SELECT 1 FROM entered) OR EXISTS (
      SELECT 1 FROM container_uses WHERE workspace_id = ${workspaceId} AND container_id = ${containerId} AND ${isFree} AND ${isYoung}
    ) AS "hasEntered"`
  return row?.hasEntered === true
}

async function release(tx: Transaction, claim: PathClaim, sizeBytes: number | null): Promise<null> {
  const row = await lockRow(tx, claim, true)
  if (row === null) throw new Error('a locked row is there')
  if (row.claim_id === claim.claimId) {
    if (sizeBytes !== null) await settle(tx, { key: claim, row }, sizeBytes)
    // Over, and to be looked at.
    else await tx`UPDATE container_files SET writing_until = '-infinity' WHERE ${at(tx, claim)}`
    return null
  }
  // It took longer than its lease, and others had the path since: what it put may lie there all the same.
  const least = Math.max(Number(row.size_bytes), sizeBytes ?? claim.sizeBytes)
  await use(tx, claim.workspaceId, least - Number(row.size_bytes))
  await tx`
    UPDATE container_files SET size_bytes = ${least}, writing_until = COALESCE(writing_until, '-infinity') WHERE ${at(tx, claim)}`
  return null
}

async function recount(tx: Transaction, path: CountedPath, sizeBytes: number): Promise<boolean> {
  const row = await lockRow(tx, path, false)
  if (row === null || row.isBusy || row.claim_id !== path.claimId) return false
  // A claim of its own, so that a writer that stopped long ago knows that it lost the path.
  await tx`UPDATE container_files SET claim_id = ${randomUUID()} WHERE ${at(tx, path)}`
  return settle(tx, { key: path, row }, sizeBytes)
}

/** The path counts what lies there; nothing needs no row. @returns whether it counted something else */
async function settle(tx: Transaction, { key, row }: { readonly key: RowKey; readonly row: SizeRow }, sizeBytes: number): Promise<boolean> {
  const change = sizeBytes - Number(row.size_bytes)
  if (sizeBytes === 0) await tx`DELETE FROM container_files WHERE ${at(tx, key)}`
  else {
    await tx`
      UPDATE container_files SET size_bytes = ${sizeBytes}, writing_until = NULL, counted_at = clock_timestamp() WHERE ${at(tx, key)}`
  }
  await use(tx, key.workspaceId, change)
  return change !== 0
}

async function use(tx: Transaction, workspaceId: string, bytes: number): Promise<void> {
  if (bytes !== 0) await tx`UPDATE workspace_storage SET used_bytes = used_bytes + ${bytes} WHERE workspace_id = ${workspaceId}`
}

async function lockRow(tx: Transaction, key: RowKey, mayMake: boolean): Promise<SizeRow | null> {
  if (mayMake) {
    await tx`
      INSERT INTO container_files (workspace_id, container_id, path, size_bytes, claim_id)
      VALUES (${key.workspaceId}, ${key.containerId}, ${key.path}, 0, ${randomUUID()}) ON CONFLICT DO NOTHING`
  }
  const [row] = await tx<SizeRow[]>`
    SELECT size_bytes, claim_id, COALESCE(writing_until >= clock_timestamp(), false) AS "isBusy"
    FROM container_files WHERE ${at(tx, key)} FOR UPDATE`
  return row ?? null
}

async function duePaths(sql: Queryable, { ageMs, container, after, countMax }: DueWish): Promise<readonly CountedPath[]> {
  const isOpen = sql`writing_until < clock_timestamp()`
  const isOld = ageMs === null ? sql`false` : sql`counted_at <= clock_timestamp() - ${ageMs} * interval '1 ms'`
  return sql<CountedPath[]>`
    SELECT workspace_id AS "workspaceId", container_id AS "containerId", path, claim_id AS "claimId" FROM container_files
    WHERE (${isOpen} OR (writing_until IS NULL AND ${isOld}))
      AND ${container === undefined ? sql`true` : sql`workspace_id = ${container.workspaceId} AND container_id = ${container.containerId}`}
      AND ${after === null ? sql`true` : sql`(workspace_id, container_id, path) > (${after.workspaceId}, ${after.containerId}, ${after.path})`}
    ORDER BY workspace_id, container_id, path LIMIT ${countMax}`
}

function at(sql: Queryable, { workspaceId, containerId, path }: RowKey) {
  return sql`workspace_id = ${workspaceId} AND container_id = ${containerId} AND path = ${path}`
}
