import { REQUESTS_WRITE_MS_MAX } from '../../../schemas/requests/request-limits.ts'
import { UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { RequestRows } from '../../ports/requests/request-log.ts'
import { withDays } from '../base/day-partitions.ts'
import type { Sql, Store } from '../base/open.ts'
import { violatedUnique } from '../base/translate.ts'
import { RequestColumns } from './request-columns.ts'
import { passOverLedger, recoverRequests } from './request-recovery.ts'
import { REQUEST_TABLE } from './request-days.ts'
import { deleteReplaced } from './replaced-rows.ts'

export function openRequestRows(store: Store): RequestRows {
  return {
    insert: (batch) => insertRequests(store, batch),
    recover: () => recoverRequests(store),
    passOver: () => passOverLedger(store),
  }
}

/**
 * Writes a batch. Rows that are there already stay as they are; a row that was recovered from the ledger
 * makes room for the call's own. A batch that failed between the two is repeated.
 */
export async function insertRequests(store: Store, batch: RequestBatch): Promise<number> {
  if (batch.requestIds.length === 0) return 0
  const columns = new RequestColumns(batch)
  const write = (isAgain: boolean): Promise<number> =>
    store.within(REQUESTS_WRITE_MS_MAX, async (sql) => {
      const { rows, hasRecovered } = await insert(sql, batch, { columns, isAgain })
      if (hasRecovered) await deleteReplaced(sql, batch.requestIds, columns)
      return rows
    })
  return withDays(store, { daily: REQUEST_TABLE, instants: () => columns.instants }, () =>
    write(false).catch((problem: unknown) => {
      if (violatedUnique(problem) === null) throw problem
      return write(true)
    }),
  )
}

interface Inserted {
  readonly rows: number
  /** The log has rows that were recovered from the ledger. */
  readonly hasRecovered: boolean
}

/**
 * Sends columns as arrays and reads them by their index beside the list of request ids, as the ledger's rows
 * are. No id has a comma.
 * @param isAgain the batch may be there: a write that looks for each row costs Postgres a third more
 */
async function insert(
  sql: Sql,
  { id, requestIds }: RequestBatch,
  { columns, isAgain }: { readonly columns: RequestColumns; readonly isAgain: boolean },
): Promise<Inserted> {
  const ms = (figure: Parameters<RequestColumns['milliseconds']>[0]) => arrayOf(columns.milliseconds(figure))
  const counts = (figure: Parameters<RequestColumns['counts']>[0]) => arrayOf(columns.counts(figure))
  const ids = requestIds.join(',')
  const [row] = await sql<Inserted[]>`
    WITH new AS (
      INSERT INTO requests (organization_id, ended_at, batch, n, request_id, workspace_id, key_hash, operation, model, provider, status,
        error, limit_kind, duration_ms, auth_ms, limits_ms, validate_ms, hold_ms, upstream_ms, first_ms, input_tokens, output_tokens,
        cached_tokens, cost_nano, request_bytes, reply_bytes, attempts, failed, weight, flags)
      SELECT organization_id, to_timestamp(ended[n] / 1000), ${id}::bigint, n, request_id, workspace_id, key_hash, operation, model, provider,
        status, error, limit_kind, nullif(duration[n], ${UNKNOWN}::float4), nullif(auth[n], ${UNKNOWN}::float4),
        nullif(limits[n], ${UNKNOWN}::float4), nullif(validate[n], ${UNKNOWN}::float4), nullif(hold[n], ${UNKNOWN}::float4),
        nullif(upstream[n], ${UNKNOWN}::float4), nullif(first[n], ${UNKNOWN}::float4), nullif(input[n], ${UNKNOWN}::bigint),
        nullif(output[n], ${UNKNOWN}::bigint), nullif(cached[n], ${UNKNOWN}::bigint), nullif(cost[n], ${UNKNOWN}::bigint),
        nullif(bytes_in[n], ${UNKNOWN}::bigint), nullif(bytes_out[n], ${UNKNOWN}::bigint), attempts, failed -> n::text, weight, flags
      FROM unnest(string_to_array(${ids}, ',')) WITH ORDINALITY AS r(request_id, n),
        (SELECT ${arrayOf(columns.places)}::int[] AS places, ${arrayOf(columns.instants)}::float8[] AS ended,
          ${ms('durationMs')}::float4[] AS duration, ${ms('authMs')}::float4[] AS auth, ${ms('limitsMs')}::float4[] AS limits,
          ${ms('validateMs')}::float4[] AS validate, ${ms('holdMs')}::float4[] AS hold, ${ms('upstreamMs')}::float4[] AS upstream,
          ${ms('firstMs')}::float4[] AS first, ${counts('inputTokens')}::bigint[] AS input, ${counts('outputTokens')}::bigint[] AS output,
          ${counts('cachedTokens')}::bigint[] AS cached, ${counts('costNano')}::bigint[] AS cost,
          ${counts('requestBytes')}::bigint[] AS bytes_in, ${counts('replyBytes')}::bigint[] AS bytes_out,
          ${JSON.stringify(columns.failed())}::text::jsonb AS failed) AS figures,
        json_to_recordset(${JSON.stringify(columns.shared)}::text::json) AS x(place int, organization_id uuid, workspace_id uuid, key_hash text,
          operation text, model text, provider text, status int, error text, limit_kind text, weight int, flags int, attempts int)
      WHERE x.place = places[n]
      ${isAgain ? sql`ON CONFLICT DO NOTHING` : sql``} RETURNING 1)
    -- In that order the partial index alone serves: where Postgres has no statistics yet, it takes half of the rows for
    -- recovered ones, and would read all of them to find the first.
    SELECT count(*)::int AS rows,
      (SELECT true FROM requests WHERE is_recovered ORDER BY request_id LIMIT 1) IS NOT NULL AS "hasRecovered" FROM new`
  return row ?? { rows: 0, hasRecovered: false }
}

function arrayOf(values: readonly number[]): string {
  return `{${values.join(',')}}`
}
