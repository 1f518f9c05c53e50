import { REQUESTS_COMPARED_MS_MAX, REQUESTS_LATE_MS } from '../../../schemas/requests/request-limits.ts'
import type { Comparison } from '../../ports/requests/request-log.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Store, Transaction } from '../base/open.ts'
import { insertLost, type SpanPart } from './lost-calls.ts'
import { withRequestDays } from './request-days.ts'
import { COST_SUMMED_BELOW } from './request-payments.ts'
import { JOB_OPERATION } from './split-batch.ts'

/** Days by which the window of a lease may be older than the calls that it pays. */
const WINDOW_DAYS_MAX = 8

/** The part of the ledger that one comparison reads. */
interface Span extends SpanPart {
  readonly fromMs: number
  readonly toMs: number
  /** Nothing was paid in it, and more of the ledger is due behind it. */
  readonly isBehind: boolean
}

/**
 * Compares the log with the ledger, from where the last comparison ended: what was paid and is not in the log,
 * as a front died with it or found no room, gets a row with what the ledger tells. Seconds in which both have
 * the same sums are equal; of the others the calls are compared. One process of all nodes compares at a time.
 * @param lateMs milliseconds behind a call until the log has to have it; 0: a second that has begun is compared
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
 * Leaves out of later comparisons what was paid while the log is off. A mark that one comparison can bring up
 * to date is left alone, since another node's log may be on.
 */
export async function passOverLedger({ sql }: Store): Promise<void> {
  const due = sql`date_trunc('second', clock_timestamp() - ${REQUESTS_LATE_MS}::float8 * interval '1 ms')`
  await sql`
    UPDATE request_marks SET through = ${due}
    WHERE id = 'ledger' AND through < ${due} - ${REQUESTS_COMPARED_MS_MAX}::float8 * interval '1 ms'`
}

/** Null: another process compares, or there is nothing to compare so far. */
async function nextSpan(tx: Transaction, lateMs: number): Promise<Span | null> {
  const due = tx`(clock_timestamp() - ${lateMs}::float8 * interval '1 ms')`
  // A part of a second has no sums to compare.
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

/** Rows of the ledger that are payments of calls; of calls that cost nothing the log keeps a share. */
function isBooked(tx: Transaction, from: string): Fragment {
  return tx`day >= ${from}::text::timestamptz::date - ${WINDOW_DAYS_MAX}::int
    AND kind <> 'overrun' AND released_nano = 0 AND operation IS NOT NULL AND cost_nano > 0`
}

/**
 * Seconds of a span, or the parts of them in it, of which the log does not have the same sums as the ledger.
 * Those of jobs are among them: their calls were paid elsewhen, and are in no sum.
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
