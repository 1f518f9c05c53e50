import { FIGURE, FIGURES, UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { Sql } from '../base/open.ts'
import { msOf, nameOf, type Payment } from './lost-calls.ts'
import { NOBODY } from './request-days.ts'
import { JOB_OPERATION } from './split-batch.ts'

interface RecoveredRow extends Payment {
  readonly ended_at: string
  readonly batch: string
  readonly n: number
}

/**
 * Deletes the rows that were recovered from the ledger for calls of a batch: for each paid call one row of the same
 * organization, key, id, cost and instant; for a job's call one row that was paid later. Callers choose request ids,
 * and may choose those of others.
 */
export async function deleteReplaced(sql: Sql, batch: RequestBatch): Promise<void> {
  const replaced: RecoveredRow[] = []
  const paid = paidBetween(batch)
  const recovered = paid === null ? [] : await recoveredBetween(sql, paid)
  if (recovered.length > 0) {
    const rows = new Rows(recovered, nameOf)
    for (const payment of ownPayments(batch)) replaced.push(...rows.take(nameOf(payment)))
  }
  const jobs = jobsOf(batch)
  if (jobs.length > 0) {
    const rows = new Rows(await recoveredJobs(sql, jobs), jobName)
    for (const job of jobs) replaced.push(...rows.take(jobName(job), job.beganMs))
  }
  if (replaced.length === 0) return
  await sql`
    DELETE FROM requests WHERE is_recovered AND (organization_id, ended_at, batch, n) IN (
      SELECT organization_id, ended_at, batch, n FROM json_to_recordset(${JSON.stringify(replaced)}::text::json)
        AS x(organization_id uuid, ended_at timestamptz, batch bigint, n int))`
}

/** Recovered rows by a name that several rows may share. */
class Rows {
  readonly #rows = new Map<string, RecoveredRow[]>()

  constructor(rows: readonly RecoveredRow[], name: (row: RecoveredRow) => string) {
    for (const row of rows) {
      const others = this.#rows.get(name(row))
      if (others === undefined) this.#rows.set(name(row), [row])
      else others.push(row)
    }
  }

  /** One row of the name that was paid at an instant or later; no other call gets the same row. Empty: no such row. */
  take(name: string, fromMs = 0): readonly RecoveredRow[] {
    const rows = this.#rows.get(name) ?? []
    const place = rows.findIndex(({ paid_ms: paidMs }) => paidMs >= fromMs)
    return place < 0 ? [] : rows.splice(place, 1)
  }
}

interface JobCall {
  readonly organization_id: string
  readonly request_id: string
  readonly key_hash: string | null
  readonly beganMs: number
}

function jobName({ organization_id, request_id, key_hash }: Omit<JobCall, 'beganMs'>): string {
  return [organization_id, key_hash, request_id].join(' ')
}

/** The first and the last payment, in Unix milliseconds; null: no call has one. */
function paidBetween({ figures }: RequestBatch): readonly [number, number] | null {
  let [first, last] = [Infinity, UNKNOWN]
  for (let at = FIGURE.paidMs; at < figures.length; at += FIGURES) {
    const paidMs = figures[at] ?? UNKNOWN
    if (paidMs < 0) continue
    if (paidMs < first) first = paidMs
    if (paidMs > last) last = paidMs
  }
  return last < 0 ? null : [first, last]
}

function ownPayments(batch: RequestBatch): readonly Payment[] {
  const { figures, names, requestIds } = batch
  return requestIds.flatMap((request_id, place) => {
    const figure = (of: number): number => figures[place * FIGURES + of] ?? UNKNOWN
    const [cost_nano, paid_ms] = [figure(FIGURE.costNano), figure(FIGURE.paidMs)]
    if (cost_nano <= 0 || paid_ms < 0) return []
    const organization_id = names[figure(FIGURE.organization) - 1] ?? NOBODY
    return [
      { organization_id, request_id, key_hash: names[figure(FIGURE.key) - 1] ?? null, cost_nano, paid_ms },
    ]
  })
}

function jobsOf({ figures, names, requestIds }: RequestBatch): readonly JobCall[] {
  const job = names.indexOf(JOB_OPERATION) + 1
  if (job === 0) return []
  return requestIds.flatMap((request_id, place) => {
    const figure = (of: number): number => figures[place * FIGURES + of] ?? UNKNOWN
    const key_hash = names[figure(FIGURE.key) - 1]
    if (figure(FIGURE.operation) !== job || key_hash === undefined) return []
    const beganMs = Math.floor(figure(FIGURE.endedMs) - figure(FIGURE.durationMs))
    return [
      { organization_id: names[figure(FIGURE.organization) - 1] ?? NOBODY, request_id, key_hash, beganMs },
    ]
  })
}

function recoveredBetween(
  sql: Sql,
  [firstMs, lastMs]: readonly [number, number],
): Promise<readonly RecoveredRow[]> {
  return sql<RecoveredRow[]>`
    SELECT organization_id, ended_at::text AS ended_at, batch::text AS batch, n, request_id, key_hash, cost_nano::float8,
      ${msOf(sql, 'paid_at')} AS paid_ms
    FROM requests
    WHERE is_recovered AND paid_at >= to_timestamp(${firstMs}::float8 / 1000) AND paid_at < to_timestamp((${lastMs}::float8 + 1) / 1000)`
}

function recoveredJobs(sql: Sql, jobs: readonly JobCall[]): Promise<readonly RecoveredRow[]> {
  const ids = jobs.map(({ request_id: id }) => id).join(',')
  return sql<RecoveredRow[]>`
    SELECT organization_id, ended_at::text AS ended_at, batch::text AS batch, n, request_id, key_hash, cost_nano::float8,
      ${msOf(sql, 'paid_at')} AS paid_ms
    FROM requests
    WHERE is_recovered AND operation = ${JOB_OPERATION}
      AND request_id IN (SELECT unnest(string_to_array(${ids}, ',')) COLLATE "C")
    ORDER BY paid_at`
}
