import { ok, type Outcome } from '../../../schemas/failures.ts'
import { COUNTED_BYTES_MIN } from '../../../schemas/files/file-limits.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import type { FileRecord, StorageUsage, UploadInput } from '../../ports/files/files.ts'
import { countedBytes, reserve, usageOf, type PendingRow } from './file-quota.ts'
import { fileOf, type FileRow, type FileState } from './file-rows.ts'
import { idempotencyIdOf, isTaken } from '../base/idempotency.ts'
import { newFileId } from '../base/ids.ts'
import type { Sql } from '../base/open.ts'
import type { WriteLane } from '../base/write-lane.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { claimStale } from './dead-fronts.ts'

export type Tried =
  | { readonly kind: 'new'; readonly id: string; readonly reservedBytes: number }
  | { readonly kind: 'replay'; readonly file: FileRecord }
  /** The first call with the key is still running. */
  | { readonly kind: 'running' }
  | { readonly kind: 'mismatch' }
  /** @see mayFit: true when the missing bytes are reserved for uploads in progress */
  | { readonly kind: 'full'; readonly mayFit: boolean; readonly quotaBytes: number }

export interface Terms {
  /** Quota of workspaces without their own quota. */
  readonly quotaBytes: number
  readonly leaseMs: number
  readonly frontId: string | null
}

export function tryBegin(lane: WriteLane, input: UploadInput, terms: Terms): Promise<Outcome<Tried>> {
  return reach(async () => ok(await lane.within(input.workspaceId, (sql) => begin(sql, input, terms))))
}

async function begin(sql: Sql, input: UploadInput, { quotaBytes, leaseMs, frontId }: Terms): Promise<Tried> {
  const { workspaceId, idempotency } = input
  const record =
    idempotency === null
      ? null
      : { id: idempotencyIdOf(idempotency), requestDigest: idempotency.requestDigest }
  const known = record === null ? null : await lookUp(sql, record)
  if (known !== null) return known
  const row = { id: newFileId(), workspaceId, leaseMs, frontId, idempotency: record }
  const reservations = reservationsOf(input)
  try {
    const usage = await reserveEither(sql, row, { ...reservations, quotaBytes })
    if (typeof usage === 'number') return { kind: 'new', id: row.id, reservedBytes: usage }
    const mayFit = usage.reservedBytes > 0 && usage.usedBytes + reservations.leastBytes <= usage.quotaBytes
    return { kind: 'full', mayFit, quotaBytes: usage.quotaBytes }
  } catch (problem) {
    if (violatedUnique(problem) === 'files_idempotency_key') return { kind: 'running' }
    throw problem
  }
}

/** The most and the fewest bytes that may be reserved for the file; the most includes its folders. An unknown length reserves nothing. */
interface Reservations {
  readonly mostBytes: number
  readonly leastBytes: number
}

function reservationsOf({ reserveBytes, slackBytes = 0, folders = 0 }: UploadInput): Reservations {
  const folderBytes = reserveBytes === 0 ? 0 : folders * COUNTED_BYTES_MIN
  return {
    mostBytes: reservedFor(reserveBytes) + folderBytes,
    leastBytes: reservedFor(Math.max(0, reserveBytes - slackBytes)),
  }
}

/**
 * Nothing is reserved for an upload of unknown length: while it waits for room it must not occupy room for
 * bytes that may never arrive.
 */
function reservedFor(sizeBytes: number): number {
  return sizeBytes === 0 ? 0 : countedBytes(sizeBytes)
}

/** @returns the bytes that were reserved, or the usage that left no room for them */
async function reserveEither(
  sql: Sql,
  row: Omit<PendingRow, 'reserveBytes'>,
  { mostBytes, leastBytes, quotaBytes }: Reservations & { readonly quotaBytes: number },
): Promise<number | StorageUsage> {
  const fits = (reserveBytes: number) => reserve(sql, { ...row, reserveBytes }, quotaBytes)
  if (await fits(mostBytes)) return mostBytes
  // The usage is read before the last attempts; reading it also creates the row of a workspace without uploads.
  // An upload for which there was no row tries the most again: if first uploads reserved only the fewest bytes,
  // they would wait for each other's missing bytes.
  const usage = await usageOf(sql, row.workspaceId, quotaBytes)
  if (await fits(mostBytes)) return mostBytes
  return leastBytes !== mostBytes && (await fits(leastBytes)) ? leastBytes : usage
}

async function lookUp(
  sql: Sql,
  record: { readonly id: string; readonly requestDigest: string },
): Promise<Tried | null> {
  const [row] = await sql<KeyedRow[]>`
    SELECT *, ready_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms' AS "isOld", lease_until < clock_timestamp() AS "isLate"
    FROM files
    WHERE idempotency_id = ${record.id} AND state <> 'abandoned'`
  // A call of another kind may have used the key.
  if (row === undefined) return (await isTaken(sql, record.id)) ? { kind: 'mismatch' } : null
  if (row.isOld === true) {
    await sql`UPDATE files SET idempotency_id = NULL, request_digest = NULL WHERE id = ${row.id} AND idempotency_id = ${record.id}`
    return null
  }
  // The process of the upload died: no call owns the row any more, and the sweep may run only minutes later.
  if (row.state === 'pending' && row.isLate && (await sql.begin((tx) => claimStale(tx, row.id, 0))) !== null)
    return null
  if (row.request_digest !== record.requestDigest) return { kind: 'mismatch' }
  return row.state === 'pending' ? { kind: 'running' } : { kind: 'replay', file: fileOf(row) }
}

type KeyedRow = FileRow & {
  readonly state: FileState
  readonly request_digest: string
  readonly isOld: boolean | null
  readonly isLate: boolean
}
