import { REQUESTS_COMPARED_MS_MAX, REQUESTS_LATE_MS } from '../../../schemas/requests/request-limits.ts'
import { withDays } from '../base/day-partitions.ts'
import type { Store, Transaction } from '../base/open.ts'
import { REQUEST_TABLE } from './request-days.ts'

/** Hours between the payment of a call and the last byte of its answer at most, to leave out whole days. */
const AROUND_HOURS = 1
/** Days by which the window of a lease may be older than the calls that it pays. */
const WINDOW_DAYS_MAX = 8

/** A part of the ledger; both instants as texts, since the library's dates have no microseconds. */
interface Span {
  readonly from: string
  readonly to: string
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Compares the log with the ledger, from where the last comparison ended: what was paid and is not in the log,
 * as a front died with it or found no room, gets a row with what the ledger tells. One process of all nodes
 * compares at a time.
 * @param lateMs milliseconds behind a call until the log has to have it
 * @returns number of rows
 */
export function recoverRequests(store: Store, lateMs = REQUESTS_LATE_MS): Promise<number> {
  const instants: number[] = []
  return withDays(store, { daily: REQUEST_TABLE, instants: () => instants }, () =>
    store.sql.begin(async (tx) => {
      await tx.unsafe('SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0')
      const span = await nextSpan(tx, lateMs)
      if (span === null) return 0
      instants.splice(0, instants.length, span.fromMs, span.toMs)
      const rows = await recover(tx, span)
      await tx`UPDATE request_marks SET through = ${span.to}::text::timestamptz WHERE id = 'ledger'`
      return rows
    }),
  )
}

/** Null: another process compares, or there is nothing to compare so far. */
async function nextSpan(tx: Transaction, lateMs: number): Promise<Span | null> {
  const [span] = await tx<Span[]>`
    SELECT through::text AS from, upto::text AS to, extract(epoch FROM through)::float8 * 1000 AS "fromMs",
      extract(epoch FROM upto)::float8 * 1000 AS "toMs"
    FROM request_marks, LATERAL (SELECT least(through + ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms',
      clock_timestamp() - ${lateMs}::float8 * interval '1 ms') AS upto) AS end_of_span
    WHERE id = 'ledger' AND upto > through FOR UPDATE OF request_marks SKIP LOCKED`
  return span ?? null
}

async function recover(tx: Transaction, { from, to, toMs }: Span): Promise<number> {
  const rows = await tx`
    WITH paid AS MATERIALIZED (
      SELECT organization_id, request_id, max(at) AS at, min(workspace_id::text)::uuid AS workspace_id, min(key_hash) AS key_hash,
        min(operation) AS operation, min(model) AS model, min(provider) AS provider, max(tokens) AS tokens,
        max(output_tokens) AS output_tokens, max(cached_tokens) AS cached_tokens, max(milliseconds) AS milliseconds,
        max(cost_nano) AS cost_nano, bool_or(is_byok) AS is_byok, bool_or(kind = 'estimated') AS is_estimated
      FROM ledger
      WHERE at >= ${from}::text::timestamptz AND at < ${to}::text::timestamptz
        AND day >= (${from}::text::timestamptz)::date - ${WINDOW_DAYS_MAX}::int AND kind <> 'overrun' AND operation IS NOT NULL
        -- Of calls that cost nothing the log keeps a share.
        AND cost_nano > 0
      GROUP BY organization_id, request_id)
    INSERT INTO requests (organization_id, ended_at, batch, n, request_id, workspace_id, key_hash, operation, model, provider, status,
      upstream_ms, input_tokens, output_tokens, cached_tokens, cost_nano, weight, flags, is_recovered)
    SELECT organization_id, at, ${Math.floor(toMs)}::bigint, row_number() OVER (), request_id, workspace_id, key_hash, operation, model,
      provider, 0, milliseconds, tokens, output_tokens, cached_tokens, cost_nano, 1, is_byok::int + 2 * is_estimated::int, true
    FROM paid p
    WHERE NOT EXISTS (
      SELECT FROM requests r WHERE r.request_id = p.request_id COLLATE "C" AND r.organization_id = p.organization_id
        AND r.ended_at >= ${from}::text::timestamptz - ${AROUND_HOURS}::int * interval '1 hour'
        AND r.ended_at < ${to}::text::timestamptz + ${AROUND_HOURS}::int * interval '1 hour')
      -- A job is paid when it ends, which may be days behind its call.
      AND (p.operation <> 'video.create' OR NOT EXISTS (
        SELECT FROM requests r WHERE r.request_id = p.request_id COLLATE "C" AND r.organization_id = p.organization_id))
    RETURNING 1`
  return rows.length
}
