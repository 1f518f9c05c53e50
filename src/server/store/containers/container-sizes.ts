import { randomUUID } from 'node:crypto'
import { ok } from '../../../schemas/failures.ts'
import { CONTAINER_USE_MS, COUNTED_BYTES_MIN } from '../../../schemas/files/file-limits.ts'
import type {
  ClaimInput,
  ContainerSizes,
  CountedPath,
  DueInput,
  Found,
  PathClaim,
} from '../../ports/containers/container-rows.ts'
import { countedBytes, quotaOf, type Held } from '../files/file-quota.ts'
import type { Queryable, Sql, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { openWriteLane } from '../base/write-lane.ts'

/**
 * Bytes of container files in the workspace's quota, one row for each path. Sizes are added here; the bytes
 * that an object and its folders count beyond their sizes are added by triggers (migration 20) as rows are
 * inserted, changed and deleted. Rows are locked in the order upload, container, path, workspace. Before it
 * publishes, a write counts the larger of the old and the new file; after that, the file at the path. So the
 * quota never counts less than is stored, wherever a process ends.
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

type Tried =
  | { readonly kind: 'claimed'; readonly claim: PathClaim }
  /** Another process has taken the upload's row. */
  | { readonly kind: 'lost' }
  /** Another write has the path, or the container is being removed. */
  | { readonly kind: 'taken' }
  /** This many bytes must be reserved: the other files leave no room beyond the reservation. */
  | { readonly kind: 'short'; readonly needsBytes: number }

/** @param lane for writes that change the quota of a workspace; left out: one of the store's own connections */
export function openContainerSizes(store: Store, lane = openWriteLane(store)): ContainerSizes {
  const change = <T>({ workspaceId }: RowKey, run: (tx: Transaction) => Promise<T>) =>
    // The library's type unwraps arrays of promises, which none of these returns.
    lane.within(workspaceId, (sql) => sql.begin(run) as Promise<T>)
  return {
    release: (claim, found) => reach(async () => ok(await change(claim, (tx) => release(tx, claim, found)))),
    due: (input) => reach(async () => ok(await duePaths(store.sql, input))),
    recount: (path, found) => reach(async () => ok(await change(path, (tx) => recount(tx, path, found)))),
  }
}

export interface ClaimTerms {
  readonly to: ClaimInput
  readonly leaseMs: number
  /** Quota of workspaces without their own quota. */
  readonly quotaBytes: number
}

/** Rolls back a transaction that has created and counted the path's row. */
class Short extends Error {
  readonly needsBytes: number

  constructor(needsBytes: number) {
    super('the count exceeds the reservation')
    this.needsBytes = needsBytes
  }
}

/** Turns a reservation into a claim of the path, and removes the upload's row. */
export async function claimPath(
  sql: Sql,
  upload: Held & { readonly workspaceId: string },
  terms: ClaimTerms,
): Promise<Tried> {
  try {
    return await sql.begin((tx) => claim(tx, upload, terms))
  } catch (problem) {
    if (problem instanceof Short) return { kind: 'short', needsBytes: problem.needsBytes }
    throw problem
  }
}

async function claim(
  tx: Transaction,
  upload: Held & { readonly workspaceId: string },
  terms: ClaimTerms,
): Promise<Tried> {
  const { to, leaseMs } = terms
  const [held] = await tx<{ reserved_bytes: string }[]>`
    SELECT reserved_bytes FROM files WHERE id = ${upload.id} AND attempt = ${upload.attempt} AND state = 'pending' FOR UPDATE`
  if (held === undefined) return { kind: 'lost' }
  const claim = {
    workspaceId: upload.workspaceId,
    containerId: to.containerId,
    path: to.path,
    sizeBytes: to.sizeBytes,
    claimId: randomUUID(),
  }
  if (!(await enterContainer(tx, claim))) return { kind: 'taken' }
  const { isNew, ...row } = await lockOrMake(tx, claim)
  if (row.isBusy) return { kind: 'taken' }
  const before = Number(row.size_bytes)
  const after = Math.max(before, to.sizeBytes)
  const [changed] = await tx<{ folders: number }[]>`
    UPDATE container_files SET size_bytes = ${after}, claim_id = ${claim.claimId},
      front_id = (SELECT front_id FROM files WHERE id = ${upload.id}),
      writing_until = clock_timestamp() + ${leaseMs} * interval '1 ms' WHERE ${at(tx, claim)}
    RETURNING ${isNew ? tx`container_folders_alone(workspace_id, container_id, path)::int` : tx`0`} AS folders`
  const needsBytes =
    countedBytes(after) - (isNew ? 0 : countedBytes(before)) + COUNTED_BYTES_MIN * (changed?.folders ?? 0)
  const change = {
    workspaceId: upload.workspaceId,
    sizeBytes: after - before,
    heldBytes: Number(held.reserved_bytes),
    needsBytes,
  }
  if (!(await takeReserved(tx, change, terms.quotaBytes))) throw new Short(needsBytes)
  await tx`DELETE FROM files WHERE id = ${upload.id}`
  return { kind: 'claimed', claim }
}

interface Change {
  readonly workspaceId: string
  readonly sizeBytes: number
  readonly heldBytes: number
  /** Bytes by which the count grows in total, including those that the triggers have already added. */
  readonly needsBytes: number
}

/** @returns false when the count exceeds the reservation, and does not fit */
async function takeReserved(
  tx: Transaction,
  { workspaceId, sizeBytes, heldBytes, needsBytes }: Change,
  quotaBytes: number,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE workspace_storage s SET used_bytes = used_bytes + ${sizeBytes}, reserved_bytes = reserved_bytes - ${heldBytes}
    WHERE workspace_id = ${workspaceId}
      AND (${needsBytes <= heldBytes} OR used_bytes + ${sizeBytes} + reserved_bytes - ${heldBytes} <= ${quotaOf(tx, quotaBytes)})`
  return count === 1
}

/**
 * Records a use so that a removal sees it. When the recorded use is old, the lock of its row orders the use
 * and the removal; when it is recent, the container is not removed anyway and the row is not written again.
 * @returns false while the container is being removed
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

async function release(tx: Transaction, claim: PathClaim, found: Found | 'unknown'): Promise<null> {
  const row = found === 'nothing' ? await lockRow(tx, claim) : await lockOrMake(tx, claim)
  if (row === null) return null
  if (row.claim_id === claim.claimId) {
    if (found !== 'unknown') await settle(tx, { key: claim, row }, found)
    // The write has ended, and the path must be measured.
    else await tx`UPDATE container_files SET writing_until = '-infinity' WHERE ${at(tx, claim)}`
    return null
  }
  // The write took longer than its lease, and other writes had the path meanwhile: the file at the path may
  // still be the one of this write.
  const put = found === 'unknown' ? claim.sizeBytes : found === 'nothing' ? 0 : found
  const least = Math.max(Number(row.size_bytes), put)
  await tx`
    UPDATE container_files SET size_bytes = ${least}, writing_until = COALESCE(writing_until, '-infinity') WHERE ${at(tx, claim)}`
  await use(tx, claim.workspaceId, least - Number(row.size_bytes))
  return null
}

async function recount(tx: Transaction, path: CountedPath, found: Found): Promise<boolean> {
  const row = await lockRow(tx, path)
  if (row === null || row.isBusy || row.claim_id !== path.claimId) return false
  // A new claim id, so that a writer that stalled long ago detects that it lost the path.
  await tx`UPDATE container_files SET claim_id = ${randomUUID()} WHERE ${at(tx, path)}`
  return settle(tx, { key: path, row }, found)
}

/** Counts the file at the path, or removes the row of a missing file. @returns true when the count changed */
async function settle(
  tx: Transaction,
  { key, row }: { readonly key: RowKey; readonly row: SizeRow },
  found: Found,
): Promise<boolean> {
  const before = Number(row.size_bytes)
  if (found === 'nothing') {
    await tx`DELETE FROM container_files WHERE ${at(tx, key)}`
    await use(tx, key.workspaceId, -before)
    return true
  }
  await tx`
    UPDATE container_files SET size_bytes = ${found}, writing_until = NULL, counted_at = clock_timestamp() WHERE ${at(tx, key)}`
  await use(tx, key.workspaceId, found - before)
  return found !== before
}

async function use(tx: Transaction, workspaceId: string, bytes: number): Promise<void> {
  if (bytes !== 0)
    await tx`UPDATE workspace_storage SET used_bytes = used_bytes + ${bytes} WHERE workspace_id = ${workspaceId}`
}

/** A new row has already counted itself and its folders, and has locked the workspace's row. */
async function lockOrMake(tx: Transaction, key: RowKey): Promise<SizeRow & { readonly isNew: boolean }> {
  for (;;) {
    const made = await tx`
      INSERT INTO container_files (workspace_id, container_id, path, size_bytes, claim_id)
      VALUES (${key.workspaceId}, ${key.containerId}, ${key.path}, 0, ${randomUUID()}) ON CONFLICT DO NOTHING`
    const row = await lockRow(tx, key)
    // Another transaction may have removed the row between the two statements.
    if (row !== null) return { ...row, isNew: made.count === 1 }
  }
}

async function lockRow(tx: Transaction, key: RowKey): Promise<SizeRow | null> {
  const [row] = await tx<SizeRow[]>`
    SELECT size_bytes, claim_id, COALESCE(writing_until >= clock_timestamp(), false) AS "isBusy"
    FROM container_files WHERE ${at(tx, key)} FOR UPDATE`
  return row ?? null
}

async function duePaths(
  sql: Queryable,
  { ageMs, container, after, countMax }: DueInput,
): Promise<readonly CountedPath[]> {
  const isOpen = sql`writing_until < clock_timestamp()`
  const isOld =
    ageMs === null ? sql`false` : sql`counted_at <= clock_timestamp() - ${ageMs} * interval '1 ms'`
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
