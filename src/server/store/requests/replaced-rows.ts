import { UNKNOWN } from '../../../schemas/requests/request-record.ts'
import type { Sql } from '../base/open.ts'
import type { RequestColumns } from './request-columns.ts'
import { JOB_OPERATION } from './request-recovery.ts'

/** Milliseconds by which the begin of a call may be late, as the ledger has whole milliseconds. */
const ROUNDED_MS = 1

/**
 * Deletes the rows that were recovered from the ledger for calls of a batch: for each paid call one, of the
 * same organization, key, id and cost, that was paid while the call ran. Callers choose request ids, and may
 * choose those of others. Rows and calls are paired in the order of time, as brackets are: a call takes the
 * last row before its end that no other call has taken.
 */
export async function deleteReplaced(
  sql: Sql,
  requestIds: readonly string[],
  columns: RequestColumns,
): Promise<void> {
  const paid = paidCalls(requestIds, columns)
  if (paid.length === 0) return
  const group = sql`organization_id, request_id, key_hash, operation, cost_nano`
  // Of calls that end at once the one that began last comes first: it takes the last row.
  const inOrder = sql`ORDER BY instant, step DESC, began_ms DESC, row_at, batch, n`
  const onward = sql`PARTITION BY ${group} ${inOrder} ROWS UNBOUNDED PRECEDING`
  // A join would compare each call of an id with each row of that id.
  await sql`
    WITH own AS MATERIALIZED (
      SELECT organization_id, request_id COLLATE "C" AS request_id, key_hash COLLATE "C" AS key_hash, operation COLLATE "C" AS operation,
        cost_nano, began_ms, CASE WHEN ended_ms IS NULL THEN 'infinity' ELSE to_timestamp(ended_ms / 1000) END AS ended_at
      FROM json_to_recordset(${JSON.stringify(paid)}::text::json) AS x(organization_id uuid, request_id text, key_hash text, operation text,
        cost_nano bigint, began_ms float8, ended_ms float8)),
    marks AS (
      SELECT ${group}, ended_at AS instant, -1 AS step, began_ms, NULL::timestamptz AS row_at, NULL::bigint AS batch, NULL::int AS n FROM own
      UNION ALL
      SELECT organization_id, request_id, key_hash, operation, CASE WHEN operation <> ${JOB_OPERATION} THEN cost_nano END,
        date_trunc('milliseconds', ended_at), 1, NULL, ended_at, batch, n
      FROM requests WHERE is_recovered AND request_id IN (SELECT request_id FROM own)),
    sums AS (SELECT *, sum(step) OVER (${onward}) AS height FROM marks),
    -- A row and the call that takes it have the same level, and nothing of that level is between them.
    levels AS (SELECT *, height - least(0, min(height) OVER (${onward})) + (step < 0)::int AS level FROM sums),
    pairs AS (SELECT *, lead(began_ms) OVER (PARTITION BY ${group}, level ${inOrder}) AS taker_began_ms FROM levels)
    DELETE FROM requests WHERE is_recovered AND (organization_id, ended_at, batch, n) IN (
      SELECT organization_id, row_at, batch, n FROM pairs WHERE step > 0 AND extract(epoch FROM row_at) * 1000 >= taker_began_ms)`
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
