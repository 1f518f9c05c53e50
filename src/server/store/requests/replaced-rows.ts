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
  const group = sql`organization_id, request_id, key_hash, operation, cost_nano`
  // One pass in the order of time: a join would compare each call of an id with each row of that id.
  await sql`
    WITH own AS MATERIALIZED (
      SELECT organization_id, request_id COLLATE "C" AS request_id, key_hash COLLATE "C" AS key_hash, operation COLLATE "C" AS operation,
        cost_nano, began_ms, CASE WHEN ended_ms IS NULL THEN 'infinity' ELSE to_timestamp(ended_ms / 1000) END AS ended_at
      FROM json_to_recordset(${JSON.stringify(paid)}::text::json) AS x(organization_id uuid, request_id text, key_hash text, operation text,
        cost_nano bigint, began_ms float8, ended_ms float8)),
    marks AS (
      SELECT ${group}, ended_at AS instant, began_ms, NULL::bigint[] AS place FROM own
      UNION ALL
      SELECT organization_id, request_id, key_hash, operation, CASE WHEN operation <> ${JOB_OPERATION} THEN cost_nano END, ended_at, NULL,
        ARRAY[(extract(epoch FROM ended_at) * 1000000)::bigint, batch, n]
      FROM requests WHERE is_recovered AND request_id IN (SELECT request_id FROM own)),
    taken AS (
      SELECT organization_id, began_ms, max(place) OVER (
        PARTITION BY ${group} ORDER BY instant, place NULLS LAST ROWS UNBOUNDED PRECEDING) AS place
      FROM marks)
    DELETE FROM requests WHERE is_recovered AND (organization_id, ended_at, batch, n) IN (
      SELECT organization_id, timestamptz 'epoch' + place[1] * interval '1 microsecond', place[2], place[3]::int
      FROM taken WHERE place[1] >= began_ms * 1000)`
}

interface PaidCall {
  readonly organization_id: string
  readonly request_id: string
  readonly key_hash: string
  readonly operation: string
  /** Null: a job is paid when it ends, which its call does not know. */
  readonly cost_nano: number | null
  /** Unix milliseconds between which the call was paid; null: at any time behind its begin. */
  readonly began_ms: number
  readonly ended_ms: number | null
}

function paidCalls(requestIds: readonly string[], columns: RequestColumns): readonly PaidCall[] {
  const [ended, durations] = [columns.instants, columns.milliseconds('durationMs')]
  const costs = columns.counts('costNano')
  return requestIds.flatMap((request_id, nth): readonly PaidCall[] => {
    const shared = columns.shared[columns.places[nth] ?? UNKNOWN]
    const [cost_nano = UNKNOWN, ended_ms = 0, duration = 0] = [costs[nth], ended[nth], durations[nth]]
    if (shared === undefined || shared.key_hash === null) return []
    const { organization_id, key_hash, operation } = shared
    const call = {
      organization_id,
      request_id,
      key_hash,
      operation,
      began_ms: ended_ms - duration - ROUNDED_MS,
    }
    if (operation === JOB_OPERATION) return [{ ...call, cost_nano: null, ended_ms: null }]
    return cost_nano > 0 ? [{ ...call, cost_nano, ended_ms }] : []
  })
}
