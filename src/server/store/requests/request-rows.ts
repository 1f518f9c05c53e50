import { FIGURE, FIGURES, type RequestBatch, UNKNOWN } from '../../../schemas/requests/request-record.ts'
import type { Comparison, RequestRows } from '../../ports/requests/request-log.ts'
import type { Sql, Store, Transaction } from '../base/open.ts'
import { violatedUnique } from '../base/translate.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { RequestColumns } from './request-columns.ts'
import { NOBODY, withRequestDays } from './request-days.ts'
import { deleteReplaced } from './replaced-rows.ts'
import { boundsOf, JOB_OPERATION, type Segment, splitBatch } from './split-batch.ts'
import { packCalls } from './packed-calls.ts'
import { insertLost, type SpanPart } from './lost-calls.ts'

/** Milliseconds that the insert of a batch may take before it counts as failed, and is repeated. Decision. */
export const REQUESTS_WRITE_MS_MAX = 5_000
/** Milliseconds after a paid call by which the log must have its row; after that the row is made from the ledger. Decision. */
export const REQUESTS_LATE_MS = 60_000
/** Milliseconds of the ledger that one comparison reads. Decision. */
export const REQUESTS_COMPARED_MS_MAX = 120_000

export function openRequestRows(store: Store): RequestRows {
  return {
    insert: (batch) => insertRequests(store, batch),
    recover: () => recoverRequests(store),
    passOver: () => passOverLedger(store),
  }
}

/**
 * Writes a batch. Existing calls stay as they are; a row that was recovered from the ledger is replaced by the call's
 * own row. A batch that was written in part is repeated.
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
  /** The batch may exist already. The write then checks each row, which costs Postgres a third more. */
  readonly isAgain: boolean
}

/** Sends columns as arrays, read by their index along the request ids, as rows of the ledger. No id has a comma. @returns rows that were new */
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

interface SegmentsInput {
  readonly segments: readonly Segment[]
  /** The batch may exist already. */
  readonly isAgain: boolean
}

/**
 * Writes the calls of each segment as one row, some 25 bytes a call, where rows and their indexes take 500; and with
 * them the sums that all calls of the batch have paid. One statement, since a statement costs Postgres and this process
 * more than hundreds of calls.
 * @returns calls of segments that were new
 */
async function insertSegments(
  sql: Sql,
  batch: RequestBatch,
  { segments, isAgain }: SegmentsInput,
): Promise<number> {
  const payments = paymentsOf(batch)
  if (segments.length + payments.length === 0) return 0
  const rows = segments.map((segment, part) => ({
    organization_id: batch.names[segment.organization - 1] ?? NOBODY,
    part,
    calls: segment.places.length,
    id_prefix: segment.prefix,
    ...boundsOf(batch, segment),
    packed: packCalls(batch, segment).toString('base64'),
  }))
  const unlessThere = isAgain ? sql`ON CONFLICT DO NOTHING` : sql``
  const [inserted] = await sql<{ calls: number }[]>`
    WITH paid AS (
      INSERT INTO request_payments (second, batch, calls, nano, ms)
      SELECT to_timestamp(second), ${batch.id}::bigint, calls, nano, ms
      FROM json_to_recordset(${JSON.stringify(payments)}::text::json) AS x(second float8, calls int, nano bigint, ms bigint)
      ${unlessThere}),
    segments AS (
      INSERT INTO request_segments (organization_id, ended_at, batch, part, first_at, calls, failures, id_prefix, id_first, id_last, packed)
      SELECT organization_id, to_timestamp("lastMs" / 1000), ${batch.id}::bigint, part, to_timestamp("firstMs" / 1000), calls, failures,
        id_prefix, "idFirst", "idLast", decode(packed, 'base64')
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS x(organization_id uuid, "lastMs" float8, part int, "firstMs" float8,
        calls int, failures int, id_prefix text, "idFirst" bigint, "idLast" bigint, packed text)
      ${unlessThere} RETURNING calls)
    SELECT coalesce(sum(calls), 0)::int AS calls FROM segments`
  return inserted?.calls ?? 0
}

const MS_PER_SECOND = 1_000
/** Sums of costs are kept below the largest number that is exact: of each cost only the remainder by this number counts. */
const COST_SUMMED_BELOW = 1_000_000_000

interface Sum {
  calls: number
  nano: number
  ms: number
}

/** The payments of a batch's calls in one second, to be compared with the ledger. */
interface SecondPaid extends Sum {
  /** Unix seconds. */
  readonly second: number
}

function paymentsOf({ figures }: RequestBatch): readonly SecondPaid[] {
  const sums = new Map<number, Sum>()
  for (let at = 0; at < figures.length; at += FIGURES) {
    const [costNano, paidMs] = [
      figures[at + FIGURE.costNano] ?? UNKNOWN,
      figures[at + FIGURE.paidMs] ?? UNKNOWN,
    ]
    if (costNano <= 0 || paidMs < 0) continue
    const second = Math.floor(paidMs / MS_PER_SECOND)
    const sum = sums.get(second) ?? { calls: 0, nano: 0, ms: 0 }
    sums.set(second, sum)
    sum.calls++
    sum.nano += costNano % COST_SUMMED_BELOW
    sum.ms += paidMs % MS_PER_SECOND
  }
  return Array.from(sums, ([second, sum]) => ({ second, ...sum }))
}

/** Days by which the window of a lease may be older than the calls that are paid from it. */
const WINDOW_DAYS_MAX = 8

/** The part of the ledger that one comparison reads. */
interface Span extends SpanPart {
  readonly fromMs: number
  readonly toMs: number
  /** Nothing was paid in this part, and later parts of the ledger are due. */
  readonly isBehind: boolean
}

/**
 * Compares the log with the ledger, from where the last comparison ended: a payment that is not in the log, because its
 * front died or had no room, gets a row with the facts of the ledger. Seconds with the same sums in both count as
 * equal; in other seconds the calls are compared. One process of all nodes compares at a time.
 * @param lateMs milliseconds after a call until the log has to have it; 0: a second that has begun is compared
 */
export function recoverRequests(store: Store, lateMs = REQUESTS_LATE_MS): Promise<Comparison> {
  const instants: number[] = []
  return withRequestDays(
    store,
    () => instants,
    () =>
      store.sql.begin(async (tx) => {
        await tx.unsafe('SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0')
        const span = await nextSpan(tx, lateMs)
        if (span === null) return { recovered: 0, isBehind: false }
        instants.splice(0, instants.length, span.fromMs, span.toMs)
        let recovered = 0
        for (const part of await unequalParts(tx, span))
          recovered += await insertLost(tx, part, {
            isBooked: isBooked(tx, span.from),
            // No front makes such a small number.
            batch: Math.floor(span.toMs),
            before: recovered,
          })
        await tx`DELETE FROM request_payments WHERE second < date_trunc('second', ${span.to}::text::timestamptz)`
        await tx`UPDATE request_marks SET through = ${span.to}::text::timestamptz WHERE id = 'ledger'`
        return { recovered, isBehind: span.isBehind }
      }),
  )
}

/**
 * Excludes payments made while the log is off from later comparisons. A mark that one comparison can bring up to date
 * is not moved, since another node's log may be on.
 */
export async function passOverLedger({ sql }: Store): Promise<void> {
  const due = sql`date_trunc('second', clock_timestamp() - ${REQUESTS_LATE_MS}::float8 * interval '1 ms')`
  await sql`
    UPDATE request_marks SET through = ${due}
    WHERE id = 'ledger' AND through < ${due} - ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms'`
}

/** Null when another process compares, or when nothing is left to compare. */
async function nextSpan(tx: Transaction, lateMs: number): Promise<Span | null> {
  const due = tx`(clock_timestamp() - ${lateMs}::float8 * interval '1 ms')`
  // No sums are kept for a part of a second.
  const isWhole = lateMs > 0
  const [span] = await tx<Span[]>`
    SELECT through::text AS from, upto::text AS to, extract(epoch FROM through)::float8 * 1000 AS "fromMs",
      extract(epoch FROM upto)::float8 * 1000 AS "toMs", upto < due AND NOT EXISTS (
        SELECT FROM ledger WHERE at >= through AND at < upto AND day >= through::date - ${WINDOW_DAYS_MAX}::int) AS "isBehind"
    FROM request_marks, LATERAL (SELECT ${isWhole ? tx`date_trunc('second', ${due})` : due} AS due) AS end_of_all,
      LATERAL (SELECT least(through + ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms', due) AS upto) AS end_of_span
    WHERE id = 'ledger' AND upto > through FOR UPDATE OF request_marks SKIP LOCKED`
  return span ?? null
}

/** Rows of the ledger that are payments of calls. Free calls are left out: the log keeps only a share of them. */
function isBooked(tx: Transaction, from: string): Fragment {
  return tx`day >= ${from}::text::timestamptz::date - ${WINDOW_DAYS_MAX}::int
    AND kind <> 'overrun' AND released_nano = 0 AND operation IS NOT NULL AND cost_nano > 0`
}

/**
 * Seconds of a span, or parts of seconds at its ends, in which the log and the ledger have different sums. Seconds with
 * payments of jobs are among them: the log has such a payment in no sum, since the call ended at another time.
 */
function unequalParts(tx: Transaction, { from, to }: Span): Promise<readonly SpanPart[]> {
  const begin = tx`${from}::text::timestamptz`
  const end = tx`${to}::text::timestamptz`
  const second = tx`interval '1 second'`
  const isCall = tx`FILTER (WHERE operation <> ${JOB_OPERATION})`
  return tx<SpanPart[]>`
    WITH paid AS (
      SELECT date_trunc('second', at) AS second, count(*) ${isCall} AS calls, count(*) AS payments,
        coalesce(sum((cost_nano % ${COST_SUMMED_BELOW}::int)::int) ${isCall}, 0) AS nano,
        coalesce(sum(floor(date_part('milliseconds', at))::int % 1000) ${isCall}, 0) AS ms
      FROM ledger WHERE at >= ${begin} AND at < ${end} AND ${isBooked(tx, from)} GROUP BY 1),
    logged AS (
      SELECT second, sum(calls) AS calls, sum(nano)::bigint AS nano, sum(ms)::bigint AS ms
      FROM request_payments WHERE second >= date_trunc('second', ${begin}) AND second < ${end} GROUP BY 1)
    SELECT greatest(second, ${begin})::text AS from, least(second + ${second}, ${end})::text AS to
    FROM paid LEFT JOIN logged l USING (second)
    WHERE payments > paid.calls OR second < ${begin} OR second + ${second} > ${end}
      OR (paid.calls, paid.nano, paid.ms) IS DISTINCT FROM (l.calls, l.nano, l.ms)
    ORDER BY second`
}
