import { IDEMPOTENCY_KEPT_MS } from '../../../../schemas/limits/idempotency-limits.ts'
import type { KeptFor, PruneStep, RetentionLease } from '../../../ports/operator/retention.ts'
import type { Store, Transaction } from '../../base/open.ts'
import { OPEN_STATES } from '../../videos/rows.ts'
import { renewLease } from '../../base/retention-lease.ts'
import { PRUNED_AT_ONCE } from '../../../../schemas/operator/admin-port-limits.ts'

/** Rows of one table that are removed when they are old. The texts are parts of statements, about the table as `t`. */
export interface AgedRows {
  readonly kind: 'idempotency' | 'webhooks' | 'dead_letters' | 'jobs'
  readonly table: string
  /** The time from which the age of a row counts; an index is ordered by it. */
  readonly since: string
  /** Condition: the row is of this kind. */
  readonly isOne: string
  /** Condition: a row of the kind may be removed; the same as in the index. */
  readonly isLoose: string
  /** Condition: no existing row refers to the row; checked row by row. */
  readonly isFree: string
  readonly idType: 'text' | 'uuid'
}

/**
 * Idempotency rows that no repetition needs any more. A row without an answer is kept as long as one with an
 * answer: a new row would count attempts from 1 again, and a process that slept could mistake another
 * process's claim for its own. The row of an open job is kept with the job, since it contains the claim of the
 * job.
 */
export const IDEMPOTENCY: AgedRows = {
  kind: 'idempotency',
  table: 'idempotency',
  since: 'COALESCE(t.answered_at, t.lease_until)',
  isOne: 'true',
  isLoose: 'true',
  isFree: `NOT EXISTS (SELECT FROM video_jobs j WHERE j.turn_id = t.id AND j.state IN (${OPEN_STATES}))`,
  idType: 'text',
}

export const WEBHOOKS = ended('webhooks', 'delivered')
export const DEAD_LETTERS = ended('dead_letters', 'dead')

function ended(kind: 'webhooks' | 'dead_letters', state: string): AgedRows {
  const isEnded = `t.state = '${state}' AND t.ended_at IS NOT NULL`
  return {
    kind,
    table: 'webhook_deliveries',
    since: 't.ended_at',
    isOne: isEnded,
    isLoose: isEnded,
    isFree: 'true',
    idType: 'uuid',
  }
}

/** A job is kept while it has clips, and while a delivery about it waits or is dead: readers of such a delivery look up the job. */
export const JOBS: AgedRows = {
  kind: 'jobs',
  table: 'video_jobs',
  since: 't.ended_at',
  isOne: 't.ended_at IS NOT NULL',
  isLoose: 't.ended_at IS NOT NULL AND t.clips_expire_at IS NULL',
  // The collation of that column's index, which differs from that of ids.
  isFree: `NOT EXISTS (
    SELECT FROM webhook_deliveries d WHERE d.idempotency_key = (t.id || '-' || t.state) COLLATE "default" AND d.state <> 'delivered')`,
  idType: 'text',
}

const UNIT_MS = { hours: 3_600_000, days: 86_400_000 }

type KeptByAge = Extract<KeptFor, null> | { readonly count: number; readonly unit: keyof typeof UNIT_MS }

/** @param keptFor null keeps the rows forever */
export function agedRows(store: Store, rows: AgedRows, keptFor: KeptByAge): PruneStep {
  const keptMs = keptFor === null ? null : keptFor.count * UNIT_MS[keptFor.unit]
  return {
    kind: rows.kind,
    keptFor,
    async *run(lease) {
      for (let after: Place | null = null; keptMs !== null;) {
        const batch = await pruneSome(store, rows, { lease, keptMs, after })
        if (batch === null) return 'lost'
        yield batch.rows
        if (batch.last === null) break
        after = batch.last
      }
      return 'done'
    },
    due: () => (keptMs === null ? Promise.resolve(0) : count(store, rows, keptMs)),
    async oldest() {
      const [row] = await store.sql.unsafe<{ at: Date }[]>(`
        SELECT ${rows.since} AS at FROM ${rows.table} t WHERE ${rows.isOne} ORDER BY ${rows.since} LIMIT 1`)
      return row?.at ?? null
    },
  }
}

/** Time for which an answer with an `Idempotency-Key` is repeated; the contract defines it, and no setting changes it. */
export const IDEMPOTENCY_KEPT: KeptByAge = { count: IDEMPOTENCY_KEPT_MS / UNIT_MS.hours, unit: 'hours' }

/** The last row of a batch, as text: the library's dates have no microseconds. */
export interface Place {
  readonly at: string
  readonly id: string
}

interface Batch {
  readonly rows: number
  /** Null: no more rows are old enough. */
  readonly last: Place | null
}

interface BatchInput {
  readonly lease: RetentionLease
  readonly keptMs: number
  readonly after: Place | null
}

/** @returns null when another process has the lease */
function pruneSome(
  store: Store,
  rows: AgedRows,
  { lease, keptMs, after }: BatchInput,
): Promise<Batch | null> {
  return store.sql.begin(async (tx) => {
    await workGently(tx)
    if (!(await renewLease(tx, lease))) return null
    const [row] = await tx.unsafe<{ rows: number; looked: number; at: string | null; id: string | null }[]>(
      batchStatement(rows, after !== null),
      [keptMs, PRUNED_AT_ONCE, ...(after === null ? [] : [after.at, after.id])],
    )
    const { at = null, id = null, looked = 0 } = row ?? {}
    return {
      rows: row?.rows ?? 0,
      last: at === null || id === null || looked < PRUNED_AT_ONCE ? null : { at, id },
    }
  })
}

/**
 * A crash may undo the transaction, and the batch is then repeated. The planner must use the indexes even when
 * its statistics of a table are outdated, so that a batch costs only the rows that it reads.
 */
export async function workGently(tx: Transaction): Promise<void> {
  await tx.unsafe(`SET LOCAL synchronous_commit = off; SET LOCAL max_parallel_workers_per_gather = 0;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`)
}

/**
 * One batch reads the next rows in the order of the index, after the last row of the previous batch. So it
 * does not read again rows that are kept, or removed rows that remain in the index for hours because of an
 * older reader. Rows that another transaction has locked are left to the next run. Parameters: milliseconds,
 * rows, and place.
 */
export function batchStatement(
  { table, since, isLoose, isFree, idType }: AgedRows,
  isBehind: boolean,
): string {
  return `
    WITH looked AS MATERIALIZED (
      SELECT t.id, ${since} AS at FROM ${table} t
      WHERE ${isLoose} AND ${since} < statement_timestamp() - $1::float8 * interval '1 ms'
        ${isBehind ? `AND (${since}, t.id) > ($3::text::timestamptz, $4::text::${idType})` : ''}
      ORDER BY ${since}, t.id LIMIT $2::int),
    free AS MATERIALIZED (
      SELECT t.id FROM looked JOIN ${table} t ON t.id = looked.id
      WHERE ${isLoose} AND ${since} = looked.at AND ${isFree} FOR UPDATE OF t SKIP LOCKED),
    gone AS (DELETE FROM ${table} t USING free WHERE t.id = free.id RETURNING 1)
    SELECT (SELECT count(*)::int FROM gone) AS rows, (SELECT count(*)::int FROM looked) AS looked, last.at::text, last.id::text
    FROM (SELECT 1) AS one LEFT JOIN LATERAL (SELECT at, id FROM looked ORDER BY at DESC, id DESC LIMIT 1) AS last ON true`
}

function count(store: Store, { table, since, isLoose, isFree }: AgedRows, keptMs: number): Promise<number> {
  return store.sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    const [row] = await tx.unsafe<{ rows: number }[]>(
      `
      SELECT count(*)::int AS rows FROM ${table} t
      WHERE ${isLoose} AND ${since} < statement_timestamp() - $1::float8 * interval '1 ms' AND ${isFree}`,
      [keptMs],
    )
    return row?.rows ?? 0
  })
}
