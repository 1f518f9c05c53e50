import { COUNTED_BYTES_MIN } from '../../../schemas/files/file-limits.ts'
import type { StorageUsage } from '../../ports/files/files.ts'
import type { Queryable, Transaction } from '../base/open.ts'

/**
 * The quota of a workspace: the bytes that its files use, and the bytes reserved for uploads in progress.
 * Every change locks the row of the file, then that of the workspace: without one order two changes would
 * deadlock. `quotaBytes` is the installation's, for workspaces without their own quota. The quota of a deleted
 * workspace is closed: a transaction that waited for its row sees that, where the row of the workspace itself
 * would still show the old state.
 */

/** Bytes that the quota counts for an object of a size. The triggers of migration 20 maintain the sums. */
export function countedBytes(sizeBytes: number): number {
  return Math.max(COUNTED_BYTES_MIN, sizeBytes)
}

/** The state of an upload's row as known to its owner. */
export interface Held {
  readonly id: string
  readonly attempt: number
}

export interface PendingRow {
  readonly id: string
  readonly workspaceId: string
  readonly reserveBytes: number
  readonly leaseMs: number
  readonly frontId: string | null
  readonly idempotency: { readonly id: string; readonly requestDigest: string } | null
}

/**
 * Creates the pending row if its bytes fit in addition to all used and reserved bytes. 0 bytes always fit:
 * emptying a container file frees room, even when more is used than allowed. @returns false when the bytes do
 * not fit
 */
export async function reserve(sql: Queryable, row: PendingRow, quotaBytes: number): Promise<boolean> {
  const { count } = await sql`
    WITH room AS (
      UPDATE workspace_storage s SET reserved_bytes = reserved_bytes + ${row.reserveBytes}
      WHERE workspace_id = ${row.workspaceId}
        AND NOT is_closed
        AND (${row.reserveBytes === 0} OR used_bytes + reserved_bytes + ${row.reserveBytes} <= ${quotaOf(sql, quotaBytes)}) RETURNING 1)
    INSERT INTO files (id, workspace_id, state, lease_until, reserved_bytes, front_id, idempotency_id, request_digest)
    SELECT ${row.id}, ${row.workspaceId}, 'pending', clock_timestamp() + ${row.leaseMs} * interval '1 ms', ${row.reserveBytes}, ${row.frontId},
      ${row.idempotency?.id ?? null}, ${row.idempotency?.requestDigest ?? null}
    FROM room`
  return count === 1
}

/** @returns false when another process has the row, or the bytes do not fit */
export async function reserveMore(
  sql: Queryable,
  held: Held,
  { bytes, quotaBytes }: { readonly bytes: number; readonly quotaBytes: number },
): Promise<boolean> {
  const { count } = await sql`
    WITH held AS (${ours(sql, held)}), room AS (
      UPDATE workspace_storage s SET reserved_bytes = s.reserved_bytes + ${bytes} FROM held
      WHERE s.workspace_id = held.workspace_id AND NOT s.is_closed
        AND s.used_bytes + s.reserved_bytes + ${bytes} <= ${quotaOf(sql, quotaBytes)} RETURNING 1)
    UPDATE files SET reserved_bytes = files.reserved_bytes + ${bytes} FROM room WHERE files.id = ${held.id}`
  return count === 1
}

/**
 * Turns a reservation into use, possibly with another size. @returns false when another process has the row,
 * or the size counts more than the reservation and does not fit
 */
export async function settle(
  sql: Queryable,
  held: Held,
  { sizeBytes, quotaBytes }: { readonly sizeBytes: number; readonly quotaBytes: number },
): Promise<boolean> {
  const counted = countedBytes(sizeBytes)
  const { count } = await sql`
    WITH held AS (${ours(sql, held)}), storage AS (${lockedStorage(sql)}), room AS (
      UPDATE workspace_storage s
      SET used_bytes = s.used_bytes + ${sizeBytes}, reserved_bytes = storage.reserved_bytes - held.reserved_bytes FROM held, storage
      WHERE s.workspace_id = storage.workspace_id AND NOT s.is_closed
        AND (${counted} <= held.reserved_bytes
          OR s.used_bytes + s.reserved_bytes - held.reserved_bytes + ${counted} <= ${quotaOf(sql, quotaBytes)})
      RETURNING 1)
    UPDATE files SET reserved_bytes = 0, ready_at = clock_timestamp() FROM room WHERE files.id = ${held.id}`
  return count === 1
}

/** Returns a reservation. @returns false when another process has the row */
export async function release(sql: Queryable, held: Held): Promise<boolean> {
  const { count } = await sql`
    WITH held AS (${ours(sql, held)}), storage AS (${lockedStorage(sql)}), room AS (
      UPDATE workspace_storage s SET reserved_bytes = storage.reserved_bytes - held.reserved_bytes FROM held, storage
      WHERE s.workspace_id = storage.workspace_id RETURNING 1)
    UPDATE files SET reserved_bytes = 0 FROM room WHERE files.id = ${held.id}`
  return count === 1
}

export async function giveBack(sql: Queryable, workspaceId: string, sizeBytes: number): Promise<void> {
  await sql`UPDATE workspace_storage SET used_bytes = used_bytes - ${sizeBytes} WHERE workspace_id = ${workspaceId}`
}

/** Reads the usage, and creates the workspace's row if it is missing. */
export async function usageOf(
  sql: Queryable,
  workspaceId: string,
  quotaBytes: number,
): Promise<StorageUsage> {
  await sql`INSERT INTO workspace_storage (workspace_id) VALUES (${workspaceId}) ON CONFLICT DO NOTHING`
  const [row] = await sql<{ used_bytes: string; reserved_bytes: string; quota_bytes: string }[]>`
    SELECT used_bytes, reserved_bytes, ${quotaOf(sql, quotaBytes)} AS quota_bytes FROM workspace_storage s WHERE workspace_id = ${workspaceId}`
  return {
    usedBytes: Number(row?.used_bytes ?? 0),
    reservedBytes: Number(row?.reserved_bytes ?? 0),
    quotaBytes: Number(row?.quota_bytes ?? quotaBytes),
  }
}

export interface Abandoned {
  readonly count: number
  /** Bytes of those abandoned files that were already stored. */
  readonly bytes: number
}

/**
 * Abandons all files of a workspace, stored ones and uploads in progress: the sweep removes their bytes.
 * @param mode `skip locked`: without rows that another transaction has locked now
 */
export async function abandonFiles(
  tx: Transaction,
  workspaceId: string,
  mode: 'wait' | 'skip locked' = 'wait',
): Promise<Abandoned> {
  const [row] = await tx<{ count: string; used: string; reserved: string }[]>`
    WITH old AS (
      SELECT id, state, size_bytes, reserved_bytes FROM files WHERE workspace_id = ${workspaceId} AND state IN ('pending', 'ready')
      ORDER BY id FOR UPDATE ${mode === 'wait' ? tx`` : tx`SKIP LOCKED`}),
    gone AS (
      UPDATE files SET state = 'abandoned', attempt = attempt + 1, reserved_bytes = 0, lease_until = to_timestamp(0)
      FROM old WHERE files.id = old.id RETURNING 1)
    SELECT count(*) AS count, COALESCE(sum(size_bytes) FILTER (WHERE state = 'ready'), 0) AS used, COALESCE(sum(reserved_bytes), 0) AS reserved
    FROM old`
  const { count = '0', used = '0', reserved = '0' } = row ?? {}
  if (count !== '0') {
    await tx`
      UPDATE workspace_storage SET used_bytes = used_bytes - ${used}::bigint, reserved_bytes = reserved_bytes - ${reserved}::bigint
      WHERE workspace_id = ${workspaceId}`
  }
  return { count: Number(count), bytes: Number(used) }
}

/** Closes the quota: after the commit nothing can be reserved or settled, even by transactions that are waiting for the row. */
export async function closeStorage(tx: Transaction, workspaceId: string): Promise<void> {
  await tx`
    INSERT INTO workspace_storage (workspace_id, is_closed) VALUES (${workspaceId}, true)
    ON CONFLICT (workspace_id) DO UPDATE SET is_closed = true`
}

export async function isOurs(sql: Queryable, held: Held): Promise<boolean> {
  const rows =
    await sql`SELECT 1 FROM files WHERE id = ${held.id} AND attempt = ${held.attempt} AND state = 'pending'`
  return rows.length === 1
}

/** @returns true when no upload of the workspace with a later id has reserved bytes; any fixed order of uploads would do */
export async function isYoungestHolder(
  sql: Queryable,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM files WHERE workspace_id = ${workspaceId} AND state = 'pending' AND reserved_bytes > 0 AND id > ${id} LIMIT 1`
  return rows.length === 0
}

function ours(sql: Queryable, { id, attempt }: Held) {
  return sql`SELECT workspace_id, reserved_bytes FROM files WHERE id = ${id} AND attempt = ${attempt} AND state = 'pending' FOR UPDATE`
}

/**
 * The workspace's row, locked after that of the upload, with the values after the lock. An UPDATE computes
 * with the row version that its statement saw, and Postgres applies the row's checks to it before it looks for
 * a newer version: a reservation that grew while the statement waited would be subtracted from the old sum.
 */
function lockedStorage(sql: Queryable) {
  return sql`SELECT s.workspace_id, s.reserved_bytes FROM workspace_storage s JOIN held ON s.workspace_id = held.workspace_id FOR UPDATE OF s`
}

/** The quota of the workspace of row `s`. */
export function quotaOf(sql: Queryable, quotaBytes: number) {
  return sql`COALESCE((SELECT w.storage_quota_bytes FROM workspaces w WHERE w.id = s.workspace_id), ${quotaBytes}::bigint)`
}
