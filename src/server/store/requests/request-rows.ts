import { REQUESTS_WRITE_MS_MAX } from '../../../schemas/requests/request-limits.ts'
import { UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { RequestRows } from '../../ports/requests/request-log.ts'
import type { Sql, Store } from '../base/open.ts'
import { violatedUnique } from '../base/translate.ts'
import { RequestColumns } from './request-columns.ts'
import { withRequestDays } from './request-days.ts'
import { passOverLedger, recoverRequests } from './request-recovery.ts'
import { insertSegments } from './request-segments.ts'
import { deleteReplaced } from './replaced-rows.ts'
import { splitBatch } from './split-batch.ts'

export function openRequestRows(store: Store): RequestRows {
  return {
    insert: (batch) => insertRequests(store, batch),
    recover: () => recoverRequests(store),
    passOver: () => passOverLedger(store),
  }
}

/**
 * Writes a batch. Calls that are there already stay as they are; a row that was recovered from the ledger makes
 * room for the call's own. A batch of which a part was written is repeated.
 * @returns calls that were new
 */
export async function insertRequests(store: Store, batch: RequestBatch): Promise<number> {
  if (batch.requestIds.length === 0) return 0
  const { segments, rows } = splitBatch(batch)
  const columns = new RequestColumns(batch, rows)
  const write = (isAgain: boolean): Promise<number> =>
    store.within(REQUESTS_WRITE_MS_MAX, async (sql) => {
      const ofRows = rows.length === 0 ? 0 : await insertRows(sql, batch.id, { columns, isAgain })
      const ofSegments = await insertSegments(sql, batch, { segments, isAgain })
      await deleteReplaced(sql, batch)
      return ofRows + ofSegments
    })
  const instants = (): readonly number[] => instantsOf(batch)
  return withRequestDays(store, instants, () =>
    write(false).catch((problem: unknown) => {
      if (violatedUnique(problem) === null) throw problem
      return write(true)
    }),
  )
}

/** The ends of all calls, in Unix milliseconds. */
function instantsOf(batch: RequestBatch): readonly number[] {
  return new RequestColumns(
    batch,
    batch.requestIds.map((_, place) => place),
  ).instants
}

interface RowsInput {
  readonly columns: RequestColumns
  /** The batch may be there: a write that looks for each row costs Postgres a third more. */
  readonly isAgain: boolean
}

/**
 * Sends columns as arrays and reads them by their index beside the list of request ids, as the ledger's rows
 * are. No id has a comma.
 * @returns rows that were new
 */
async function insertRows(sql: Sql, batch: string, { columns, isAgain }: RowsInput): Promise<number> {
  const ms = (figure: Parameters<RequestColumns['milliseconds']>[0]) => arrayOf(columns.milliseconds(figure))
  const counts = (figure: Parameters<RequestColumns['counts']>[0]) => arrayOf(columns.counts(figure))
  const { count } = await sql`
    INSERT INTO requests (organization_id, ended_at, batch, n, request_id, workspace_id, key_hash, operation, model, provider, status,
      error, limit_kind, duration_ms, auth_ms, limits_ms, validate_ms, hold_ms, upstream_ms, first_ms, input_tokens, output_tokens,
      cached_tokens, cost_nano, request_bytes, reply_bytes, attempts, failed, reason, weight, flags, paid_at)
    SELECT organization_id, to_timestamp(ended[n] / 1000), ${batch}::bigint, numbers[n], request_id, workspace_id, key_hash, operation,
      model, provider, status, error, limit_kind, nullif(duration[n], ${UNKNOWN}::float4), nullif(auth[n], ${UNKNOWN}::float4),
      nullif(limits[n], ${UNKNOWN}::float4), nullif(validate[n], ${UNKNOWN}::float4), nullif(hold[n], ${UNKNOWN}::float4),
      nullif(upstream[n], ${UNKNOWN}::float4), nullif(first[n], ${UNKNOWN}::float4), nullif(input[n], ${UNKNOWN}::bigint),
      nullif(output[n], ${UNKNOWN}::bigint), nullif(cached[n], ${UNKNOWN}::bigint), nullif(cost[n], ${UNKNOWN}::bigint),
      nullif(bytes_in[n], ${UNKNOWN}::bigint), nullif(bytes_out[n], ${UNKNOWN}::bigint), attempts, failed -> n::text, reasons -> n::text, weight, flags,
      to_timestamp(nullif(paid[n], ${UNKNOWN}::float8) / 1000)
    FROM unnest(string_to_array(${columns.requestIds.join(',')}, ',')) WITH ORDINALITY AS r(request_id, n),
      (SELECT ${arrayOf(columns.places)}::int[] AS places, ${arrayOf(columns.numbers)}::int[] AS numbers,
        ${arrayOf(columns.instants)}::float8[] AS ended,
        ${ms('durationMs')}::float4[] AS duration, ${ms('authMs')}::float4[] AS auth, ${ms('limitsMs')}::float4[] AS limits,
        ${ms('validateMs')}::float4[] AS validate, ${ms('holdMs')}::float4[] AS hold, ${ms('upstreamMs')}::float4[] AS upstream,
        ${ms('firstMs')}::float4[] AS first, ${counts('inputTokens')}::bigint[] AS input, ${counts('outputTokens')}::bigint[] AS output,
        ${counts('cachedTokens')}::bigint[] AS cached, ${counts('costNano')}::bigint[] AS cost,
        ${counts('requestBytes')}::bigint[] AS bytes_in, ${counts('replyBytes')}::bigint[] AS bytes_out,
        ${counts('paidMs')}::float8[] AS paid, ${JSON.stringify(columns.failed())}::text::jsonb AS failed,
        ${JSON.stringify(columns.reasons())}::text::jsonb AS reasons) AS figures,
      json_to_recordset(${JSON.stringify(columns.shared)}::text::json) AS x(place int, organization_id uuid, workspace_id uuid, key_hash text,
        operation text, model text, provider text, status int, error text, limit_kind text, weight int, flags int, attempts int)
    WHERE x.place = places[n]
    ${isAgain ? sql`ON CONFLICT DO NOTHING` : sql``}`
  return count
}

function arrayOf(values: readonly number[]): string {
  return `{${values.join(',')}}`
}
