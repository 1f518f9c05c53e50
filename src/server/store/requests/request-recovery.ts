import { REQUESTS_COMPARED_MS_MAX, REQUESTS_LATE_MS } from '../../../schemas/requests/request-limits.ts'
import { FLAG } from '../../../schemas/requests/request-record.ts'
import type { Comparison } from '../../ports/requests/request-log.ts'
import { withDays } from '../base/day-partitions.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Store, Transaction } from '../base/open.ts'
import { REQUEST_TABLE } from './request-days.ts'

/** The operation whose calls are paid when their job ends, which may be days behind the call. */
export const JOB_OPERATION = 'video.create'
/** Hours between the payment of a call and the last byte of its answer at most. */
const ANSWER_HOURS_MAX = 1
/** Seconds between the same for nearly all calls. Longer ones are looked for apart. */
const ANSWER_S_USUAL = 30
/** Days by which the window of a lease may be older than the calls that it pays. */
const WINDOW_DAYS_MAX = 8

/** Request ids whose calls are compared apart; beyond, all calls of a span are. */
const COMPARED_IDS_MAX = 1_000

/** A part of the ledger; both instants as texts, since the library's dates have no microseconds. */
interface Span {
  readonly from: string
  readonly to: string
  readonly fromMs: number
  readonly toMs: number
  /** Nothing was paid in it, and more of the ledger is due behind it. */
  readonly isBehind: boolean
}

/**
 * Compares the log with the ledger, from where the last comparison ended: what was paid and is not in the log,
 * as a front died with it or found no room, gets a row with what the ledger tells. One process of all nodes
 * compares at a time.
 * @param lateMs milliseconds behind a call until the log has to have it
 */
export function recoverRequests(store: Store, lateMs = REQUESTS_LATE_MS): Promise<Comparison> {
  const instants: number[] = []
  return withDays(store, { daily: REQUEST_TABLE, instants: () => instants }, () =>
    store.sql.begin(async (tx) => {
      await tx.unsafe('SET LOCAL synchronous_commit = off; SET LOCAL statement_timeout = 0')
      const span = await nextSpan(tx, lateMs)
      if (span === null) return { recovered: 0, isBehind: false }
      instants.splice(0, instants.length, span.fromMs, span.toMs)
      const open = await openIds(tx, span)
      const recovered = open.length === 0 ? 0 : await recover(tx, span, open)
      await tx`UPDATE request_marks SET through = ${span.to}::text::timestamptz WHERE id = 'ledger'`
      return { recovered, isBehind: span.isBehind }
    }),
  )
}

/**
 * Leaves out of later comparisons what was paid while the log is off. A mark that one comparison can bring up
 * to date is left alone, since another node's log may be on.
 */
export async function passOverLedger({ sql }: Store): Promise<void> {
  const due = sql`clock_timestamp() - ${REQUESTS_LATE_MS}::float8 * interval '1 ms'`
  await sql`
    UPDATE request_marks SET through = ${due}
    WHERE id = 'ledger' AND through < ${due} - ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms'`
}

/** Null: another process compares, or there is nothing to compare so far. */
async function nextSpan(tx: Transaction, lateMs: number): Promise<Span | null> {
  const [span] = await tx<Span[]>`
    SELECT through::text AS from, upto::text AS to, extract(epoch FROM through)::float8 * 1000 AS "fromMs",
      extract(epoch FROM upto)::float8 * 1000 AS "toMs", upto < due AND NOT EXISTS (
        SELECT FROM ledger WHERE at >= through AND at < upto AND day >= through::date - ${WINDOW_DAYS_MAX}::int) AS "isBehind"
    FROM request_marks, LATERAL (SELECT clock_timestamp() - ${lateMs}::float8 * interval '1 ms' AS due) AS end_of_all,
      LATERAL (SELECT least(through + ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms', due) AS upto) AS end_of_span
    WHERE id = 'ledger' AND upto > through FOR UPDATE OF request_marks SKIP LOCKED`
  return span ?? null
}

/** Rows of the ledger that are payments of calls; of calls that cost nothing the log keeps a share. */
function isBooked(tx: Transaction, from: string): Fragment {
  return tx`day >= ${from}::text::timestamptz::date - ${WINDOW_DAYS_MAX}::int
    AND kind <> 'overrun' AND released_nano = 0 AND operation IS NOT NULL AND cost_nano > 0`
}

/**
 * Request ids of the payments that one look does not pair with a row: nearly all calls have one payment and,
 * at its time or behind it, one row. A look is much cheaper than the order in time of all. Ids beyond
 * COMPARED_IDS_MAX are left out: all are compared then.
 */
async function openIds(tx: Transaction, { from, to }: Span): Promise<readonly string[]> {
  const begin = tx`${from}::text::timestamptz`
  const end = tx`${to}::text::timestamptz`
  // A number for organization, id, key and cost. A key is of one organization.
  const call = tx`hashtextextended(request_id COLLATE "C", hashtextextended(coalesce(key_hash, '') COLLATE "C", cost_nano))`
  const rows = await tx<{ id: string }[]>`
    WITH paid AS MATERIALIZED (
      SELECT organization_id, request_id, ${call} AS call, date_trunc('milliseconds', at) AS at, operation = ${JOB_OPERATION} AS is_job
      FROM ledger
      WHERE at >= ${begin} AND at < ${end} AND ${isBooked(tx, from)}),
    steps AS (
      SELECT call, request_id, at, NULL::timestamptz AS ended_at, is_job FROM paid
      UNION ALL
      SELECT ${call}, NULL, NULL, ended_at, false
      FROM (SELECT DISTINCT organization_id FROM paid) AS payers JOIN requests USING (organization_id)
      WHERE ended_at >= ${begin} AND ended_at < ${end} + ${ANSWER_S_USUAL}::int * interval '1 second'
        AND cost_nano > 0 AND operation <> ${JOB_OPERATION})
    SELECT max(request_id) AS id FROM steps GROUP BY call
    HAVING count(at) > 0 AND NOT (count(at) = 1 AND count(ended_at) = 1 AND max(at) <= max(ended_at) AND NOT bool_or(is_job))
    LIMIT ${COMPARED_IDS_MAX + 1}::int`
  return rows.map(({ id }) => id)
}

/**
 * Callers choose request ids, and many calls may have one. So payments and rows of an organization, key, id
 * and cost are paired in the order of time, as brackets are: a row takes the last payment before its end that
 * no other row has taken.
 */
async function recover(
  tx: Transaction,
  { from, to, toMs }: Span,
  open: readonly string[],
): Promise<number> {
  const begin = tx`${from}::text::timestamptz`
  const end = tx`${to}::text::timestamptz`
  const usualEnd = tx`${to}::text::timestamptz + ${ANSWER_S_USUAL}::int * interval '1 second'`
  const group = tx`organization_id, request_id, key_hash, cost_nano`
  const onward = tx`PARTITION BY ${group} ORDER BY instant, step DESC, call ROWS UNBOUNDED PRECEDING`
  // A frame that begins at the current row would be read anew for each row.
  const backward = tx`PARTITION BY ${group} ORDER BY instant DESC, step, call DESC ROWS UNBOUNDED PRECEDING`
  const isOpen =
    open.length > COMPARED_IDS_MAX
      ? tx`true`
      : tx`request_id IN (SELECT unnest(string_to_array(${open.join(',')}::text, ',')) COLLATE "C")`
  const facts = tx`call, at, kind, workspace_id, operation, model, provider, tokens, output_tokens, cached_tokens, milliseconds, is_byok`
  const noFacts = tx`NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`
  // The planner knows no sizes of these parts, and would join two large ones row by row: nothing large is joined.
  const rows = await tx`
    WITH booked AS (
      SELECT row_number() OVER () AS call, at, kind, organization_id, request_id COLLATE "C" AS request_id, workspace_id,
        key_hash COLLATE "C" AS key_hash, operation, model, provider, tokens, output_tokens, cached_tokens, milliseconds, cost_nano, is_byok
      FROM ledger
      WHERE at >= ${begin} AND at < ${usualEnd} AND ${isBooked(tx, from)} AND ${isOpen}),
    ranked AS (
      SELECT *, max(at) FILTER (WHERE kind = 'estimated') OVER (PARTITION BY organization_id, request_id, key_hash) AS estimated_at,
        row_number() OVER (PARTITION BY organization_id, request_id, key_hash, kind, at ORDER BY cost_nano DESC) AS nth
      FROM booked),
    -- A call that died is one forfeit, or two of one instant, or what was known of its cost and a forfeit before that.
    paid AS MATERIALIZED (
      SELECT * FROM ranked WHERE kind <> 'forfeit' OR (nth = 1 AND (estimated_at IS NULL OR estimated_at < at))),
    logged AS MATERIALIZED (
      SELECT ${group}, ended_at, ended_at - duration_ms * interval '1 ms' AS began_at
      FROM (SELECT DISTINCT organization_id FROM paid) AS payers JOIN requests USING (organization_id)
      WHERE ended_at >= ${begin} AND ended_at < ${end} + ${ANSWER_HOURS_MAX}::int * interval '1 hour'
        AND cost_nano > 0 AND operation <> ${JOB_OPERATION} AND ${isOpen}),
    slow AS MATERIALIZED (SELECT * FROM logged WHERE ended_at >= ${usualEnd} AND began_at < ${end}),
    steps AS (
      SELECT ${group}, ${facts}, date_trunc('milliseconds', at) AS instant, 1 AS step FROM paid WHERE operation <> ${JOB_OPERATION}
      UNION ALL
      SELECT ${group}, ${noFacts}, ended_at, -1 FROM logged WHERE ended_at < ${usualEnd}),
    sums AS (SELECT *, sum(step) OVER (${onward}) AS height FROM steps),
    -- Rows whose payment was before the span take nothing.
    depths AS (SELECT *, height - least(0, min(height) OVER (${onward})) AS depth FROM sums),
    lowest AS (SELECT *, min(depth) OVER (${backward}) AS low FROM depths),
    lost AS (
      SELECT ${group}, ${facts} FROM lowest p
      WHERE call IS NOT NULL AND low = depth AND NOT EXISTS (
        SELECT FROM slow l WHERE l.began_at <= p.at AND l.organization_id = p.organization_id
          AND l.request_id = p.request_id AND l.key_hash = p.key_hash AND l.cost_nano = p.cost_nano)
      UNION ALL
      SELECT ${group}, ${facts} FROM paid p
      WHERE p.operation = ${JOB_OPERATION} AND NOT EXISTS (
        SELECT FROM requests r WHERE r.request_id = p.request_id AND r.organization_id = p.organization_id
          AND r.key_hash = p.key_hash AND r.operation = p.operation COLLATE "C"))
    INSERT INTO requests (organization_id, ended_at, batch, n, request_id, workspace_id, key_hash, operation, model, provider, status,
      upstream_ms, input_tokens, output_tokens, cached_tokens, cost_nano, weight, flags, is_recovered)
    SELECT organization_id, at, ${Math.floor(toMs)}::bigint, row_number() OVER (), request_id, workspace_id, key_hash, operation, model,
      provider, 0, milliseconds, tokens, output_tokens, cached_tokens, cost_nano, 1,
      is_byok::int * ${FLAG.byok}::int + (kind = 'estimated')::int * ${FLAG.estimated}::int, true
    FROM lost WHERE at < ${end}
    RETURNING 1`
  return rows.length
}
