import { UNKNOWN } from '../../../schemas/requests/request-record.ts'
import type { Sql } from '../base/open.ts'
import type { RequestColumns } from './request-columns.ts'
import { JOB_OPERATION } from './request-recovery.ts'

/** Milliseconds by which the begin of a call may be late, as the ledger has whole milliseconds. */
const ROUNDED_MS = 1

/**
 * Deletes the rows that were recovered from the ledger for calls of a batch: for each paid call one, of the
 * same organization, key, id and cost, that was paid while the call ran. Callers choose request ids, and may
 * choose those of others.
 */
export async function deleteReplaced(
  sql: Sql,
  requestIds: readonly string[],
  columns: RequestColumns,
): Promise<void> {
  const paid = paidCalls(requestIds, columns)
  if (paid.length === 0) return
  await sql`
    DELETE FROM requests WHERE is_recovered AND (organization_id, ended_at, batch, n) IN (
      SELECT DISTINCT ON (own.nth) r.organization_id, r.ended_at, r.batch, r.n
      FROM json_to_recordset(${JSON.stringify(paid)}::text::json) AS own(nth int, organization_id uuid, request_id text, key_hash text,
          operation text, cost_nano bigint, began_ms float8, ended_ms float8)
        JOIN requests r ON r.is_recovered AND r.request_id = own.request_id COLLATE "C" AND r.organization_id = own.organization_id
          AND r.key_hash = own.key_hash COLLATE "C" AND r.operation = own.operation COLLATE "C"
          AND (r.operation = ${JOB_OPERATION} OR (r.cost_nano = own.cost_nano
            AND r.ended_at BETWEEN to_timestamp(own.began_ms / 1000) AND to_timestamp(own.ended_ms / 1000)))
      ORDER BY own.nth, r.ended_at DESC)`
}

interface PaidCall {
  readonly nth: number
  readonly organization_id: string
  readonly request_id: string
  readonly key_hash: string
  readonly operation: string
  readonly cost_nano: number
  /** Unix milliseconds. */
  readonly began_ms: number
  readonly ended_ms: number
}

/** A job is paid when it ends: its call knows no cost. */
function paidCalls(requestIds: readonly string[], columns: RequestColumns): readonly PaidCall[] {
  const [ended, durations] = [columns.instants, columns.milliseconds('durationMs')]
  const costs = columns.counts('costNano')
  return requestIds.flatMap((request_id, nth) => {
    const shared = columns.shared[columns.places[nth] ?? UNKNOWN]
    const [cost_nano = UNKNOWN, ended_ms = 0, duration = 0] = [costs[nth], ended[nth], durations[nth]]
    if (shared === undefined || shared.key_hash === null) return []
    const { organization_id, key_hash, operation } = shared
    if (cost_nano === UNKNOWN && operation !== JOB_OPERATION) return []
    const began_ms = ended_ms - duration - ROUNDED_MS
    return [{ nth, organization_id, request_id, key_hash, operation, cost_nano, began_ms, ended_ms }]
  })
}
