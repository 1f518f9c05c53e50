import { FLAG, UNKNOWN } from '../../../schemas/requests/request-record.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Transaction } from '../base/open.ts'
import { PackedCalls } from './packed-calls.ts'
import { JOB_OPERATION } from './split-batch.ts'

/** A part of the ledger; both instants are texts, since the dates of the database library have no microseconds. */
export interface SpanPart {
  readonly from: string
  readonly to: string
}

/** Most hours between the start of a call and the entry of its estimated cost when its front dies. */
const CALL_HOURS_MAX = 1

interface LostInput {
  /** Condition on rows of the ledger that are payments of calls. */
  readonly isBooked: Fragment
  /** Of the new rows. */
  readonly batch: number
  /** Number of rows that the batch has already. */
  readonly before: number
}

/** The facts that distinguish a payment: callers choose request ids, and many calls may have one. */
export interface Payment {
  readonly organization_id: string
  readonly request_id: string
  readonly key_hash: string | null
  readonly cost_nano: number
  /** Unix milliseconds. */
  readonly paid_ms: number
}

interface Booked extends Payment {
  readonly at: string
  readonly kind: string
  readonly workspace_id: string | null
  readonly operation: string
  readonly model: string | null
  readonly provider: string | null
  readonly tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly milliseconds: number | null
  readonly is_byok: boolean
  /** The log has the call of this job. */
  readonly is_logged: boolean
}

/** Writes rows for the payments of a part of the ledger that the log does not have. @returns number of them */
export async function insertLost(tx: Transaction, part: SpanPart, input: LostInput): Promise<number> {
  const paid = await withoutSecondRows(tx, part, await bookedIn(tx, part, input))
  const counts = new Counts()
  await countSegments(tx, part, counts)
  const isLost = (payment: Booked): boolean =>
    payment.operation === JOB_OPERATION ? !payment.is_logged : !counts.take(payment)
  const open = paid.filter(isLost)
  if (open.length === 0) return 0
  await countRows(tx, part, { open, counts })
  const lost = open.filter(isLost)
  if (lost.length > 0) await insert(tx, lost, input)
  return lost.length
}

/** Counts of the log's payments by those facts. */
class Counts {
  readonly #counts = new Map<string, number>()

  add(payment: Payment): void {
    const name = nameOf(payment)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Counts one such payment as taken. @returns whether one was left */
  take(payment: Payment): boolean {
    const name = nameOf(payment)
    const left = this.#counts.get(name) ?? 0
    if (left > 0) this.#counts.set(name, left - 1)
    return left > 0
  }
}

export function nameOf({ organization_id, request_id, key_hash, cost_nano, paid_ms }: Payment): string {
  return [organization_id, key_hash, cost_nano, paid_ms, request_id].join(' ')
}

/** Unix milliseconds of an instant, without fractions. */
export function msOf(sql: Queryable, column: 'at' | 'paid_at'): Fragment {
  return sql`floor(extract(epoch FROM ${sql(column)}) * 1000)::float8`
}

function bookedIn(
  tx: Transaction,
  { from, to }: SpanPart,
  { isBooked }: LostInput,
): Promise<readonly Booked[]> {
  return tx<Booked[]>`
    SELECT at::text AS at, kind, organization_id, request_id, workspace_id, key_hash, operation, model, provider, tokens::float8,
      output_tokens::float8, cached_tokens::float8, milliseconds::float8, cost_nano::float8, is_byok, ${msOf(tx, 'at')} AS paid_ms,
      CASE WHEN operation <> ${JOB_OPERATION} THEN false ELSE EXISTS (
        SELECT FROM requests r WHERE r.request_id = l.request_id COLLATE "C" AND r.organization_id = l.organization_id
          AND r.key_hash = l.key_hash COLLATE "C" AND r.operation = ${JOB_OPERATION}) END AS is_logged
    FROM ledger l
    WHERE at >= ${from}::text::timestamptz AND at < ${to}::text::timestamptz AND ${isBooked}`
}

/**
 * Keeps one row of a call whose front died. Such a call may have one forfeit, two of the same instant, or an entry of
 * its estimated cost and a forfeit dated before that.
 */
async function withoutSecondRows(
  tx: Transaction,
  { from }: SpanPart,
  booked: readonly Booked[],
): Promise<readonly Booked[]> {
  const forfeits = new Map<string, Booked>()
  for (const row of booked) {
    if (row.kind !== 'forfeit') continue
    const name = `${callOf(row)} ${row.at}`
    const other = forfeits.get(name)
    if (other === undefined || other.cost_nano < row.cost_nano) forfeits.set(name, row)
  }
  if (forfeits.size === 0) return booked
  const ids = Array.from(forfeits.values(), ({ request_id: id }) => id).join(',')
  const estimated = await tx<EstimatedCall[]>`
    SELECT organization_id, request_id, key_hash, ${msOf(tx, 'at')} AS paid_ms FROM ledger
    WHERE kind = 'estimated' AND request_id = ANY(string_to_array(${ids}, ',')) AND at >= ${from}::text::timestamptz
      AND at < ${from}::text::timestamptz + ${CALL_HOURS_MAX}::int * interval '1 hour'`
  const known = new Map<string, number>()
  for (const row of estimated) known.set(callOf(row), Math.max(row.paid_ms, known.get(callOf(row)) ?? 0))
  const single = new Set(forfeits.values())
  return booked.filter(
    (row) => row.kind !== 'forfeit' || (single.has(row) && (known.get(callOf(row)) ?? UNKNOWN) < row.paid_ms),
  )
}

type EstimatedCall = Omit<Payment, 'cost_nano'>

function callOf({ organization_id, request_id, key_hash }: Omit<EstimatedCall, 'paid_ms'>): string {
  return [organization_id, key_hash, request_id].join(' ')
}

async function countSegments(tx: Transaction, { from, to }: SpanPart, counts: Counts): Promise<void> {
  const begin = tx`${from}::text::timestamptz`
  const rows = tx<{ organization_id: string; packed: Uint8Array }[]>`
    SELECT organization_id, packed FROM request_segments
    WHERE ended_at >= ${begin} AND batch IN (
      SELECT batch FROM request_payments WHERE second >= date_trunc('second', ${begin}) AND second < ${to}::text::timestamptz)`
  // Row by row: one second of a busy node has many rows.
  for await (const [row] of rows.cursor(1)) if (row !== undefined) countSegment(row, counts)
}

function countSegment(
  { organization_id, packed }: { readonly organization_id: string; readonly packed: Uint8Array },
  counts: Counts,
): void {
  const calls = new PackedCalls(packed)
  const [costs, paid] = [calls.figures('costNano'), calls.figures('paidMs')]
  for (let nth = 0; nth < calls.calls; nth++) {
    const [cost_nano = UNKNOWN, paid_ms = UNKNOWN] = [costs[nth], paid[nth]]
    if (cost_nano <= 0 || paid_ms < 0) continue
    const [request_id, key_hash] = [calls.requestIdAt(nth), calls.textAt(nth, 'key')]
    counts.add({ organization_id, request_id, key_hash, cost_nano, paid_ms })
  }
}

interface RowsInput {
  readonly open: readonly Booked[]
  readonly counts: Counts
}

async function countRows(
  tx: Transaction,
  { from, to }: SpanPart,
  { open, counts }: RowsInput,
): Promise<void> {
  const ids = open.map(({ request_id: id }) => id).join(',')
  const rows = await tx<Payment[]>`
    SELECT organization_id, request_id, key_hash, cost_nano::float8, ${msOf(tx, 'paid_at')} AS paid_ms FROM requests
    WHERE request_id IN (SELECT unnest(string_to_array(${ids}, ',')) COLLATE "C")
      AND paid_at >= date_trunc('milliseconds', ${from}::text::timestamptz) AND paid_at < ${to}::text::timestamptz`
  for (const row of rows) counts.add(row)
}

async function insert(tx: Transaction, lost: readonly Booked[], { batch, before }: LostInput): Promise<void> {
  await tx`
    INSERT INTO requests (organization_id, ended_at, batch, n, request_id, workspace_id, key_hash, operation, model, provider, status,
      upstream_ms, input_tokens, output_tokens, cached_tokens, cost_nano, weight, flags, is_recovered, paid_at)
    SELECT organization_id, at, ${batch}::bigint, ${before}::int + row_number() OVER (), request_id, workspace_id, key_hash, operation,
      model, provider, 0, milliseconds, tokens, output_tokens, cached_tokens, cost_nano, 1,
      is_byok::int * ${FLAG.byok}::int + (kind = 'estimated')::int * ${FLAG.estimated}::int, true, at
    FROM json_to_recordset(${JSON.stringify(lost)}::text::json) AS x(at timestamptz, kind text, organization_id uuid, request_id text,
      workspace_id uuid, key_hash text, operation text, model text, provider text, tokens bigint, output_tokens bigint,
      cached_tokens bigint, milliseconds float4, cost_nano bigint, is_byok boolean)`
}
