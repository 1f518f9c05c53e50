import type { Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { makeOwners } from '../../../support/money/money.ts'
import { must } from '../../../support/must.ts'
import { plantAnswers, plantDeliveries, plantEvents, plantJobs } from '../../../support/operator/retention.ts'

export interface HistorySize {
  readonly ledger: number
  readonly audit: number
  readonly idempotency: number
  /** Of each of both states. */
  readonly deliveries: number
  readonly jobs: number
  /** Rows of each that are kept. */
  readonly young: number
}

/** Rows by table. */
export type Counts = Readonly<Record<string, number>>

export interface History {
  readonly due: Counts
  readonly kept: Counts
  /** Of the ledger. */
  readonly spentNano: bigint
}

/** One day of it, longer ago than anything that is kept for a time. */
const DUE = { fromDays: 101, toDays: 100 }
const YOUNG = { fromDays: 0.5, toDays: 0 }

/** What a day of traffic leaves, made by the database itself. */
export async function plantHistory(store: Store, size: HistorySize): Promise<History> {
  const owners = await makeOwners(store, 'history')
  const audited = must(await createOrganization(store, { name: 'audited' })).organization.id
  const young = must(await createOrganization(store, { name: 'audited since' })).organization.id
  await store.sql.begin(async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = off')
    for (const [age, name, scale] of [
      [DUE, 'due', null],
      [YOUNG, 'young', size.young],
    ] as const) {
      const plant = { ...age, ...owners }
      await plantAnswers(tx, { ...plant, name: `${name}-`, count: scale ?? size.idempotency })
      await plantJobs(tx, { ...plant, name: `${name}-`, count: scale ?? size.jobs })
      // Deliveries of jobs that none of them keeps: a job stays with a dead letter.
      for (const state of ['delivered', 'dead'] as const) {
        await plantDeliveries(tx, {
          ...plant,
          state,
          name: `${name}-${state}-`,
          count: scale ?? size.deliveries,
        })
      }
      await plantEvents(tx, {
        ...age,
        organizationId: scale === null ? audited : young,
        name: `${name}-`,
        count: scale ?? size.audit,
      })
    }
  })
  const spentNano = await plantLedger(store, owners, size.ledger)
  const due = {
    ledger: size.ledger,
    audit: size.audit,
    idempotency: size.idempotency,
    webhook_deliveries: 2 * size.deliveries,
    video_jobs: size.jobs,
  }
  const kept = {
    ledger: 0,
    audit: size.young,
    idempotency: size.young,
    webhook_deliveries: 2 * size.young,
    video_jobs: size.young,
  }
  return { due, kept, spentNano }
}

/** Rows as flushes would have left them, with their roll-up and their counters. @returns what they cost */
async function plantLedger(
  { sql }: Store,
  owners: Awaited<ReturnType<typeof makeOwners>>,
  rows: number,
): Promise<bigint> {
  const { organizationId, workspaceId, keyHash, accounts } = owners
  const at = sql`(clock_timestamp() AT TIME ZONE 'UTC')::timestamp - interval '101 days' + nth * interval '1 day' / ${rows}::float8`
  return sql.begin(async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = off')
    await tx`SELECT ledger_partition(((clock_timestamp() AT TIME ZONE 'UTC')::date - days)) FROM generate_series(99, 102) AS days`
    await tx`
      INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, operation, model, provider, tokens, milliseconds, cost_nano)
      SELECT at::date, at AT TIME ZONE 'UTC', 'request-' || nth, CASE WHEN nth % 50 = 0 THEN 'estimated' ELSE 'usage' END, ${organizationId}, ${workspaceId},
        ${keyHash}, 'embeddings.create', 'model-' || nth % 5, 'provider', 10 + nth % 90, 0, 100 + nth % 900
      FROM (SELECT nth, ${at} AS at FROM generate_series(1, ${rows}::int) AS nth) AS made`
    await tx`
      INSERT INTO activity SELECT organization_id, day, workspace_id, key_hash, model, count(*), sum(tokens), 0, sum(cost_nano), 0, 0
      FROM ledger WHERE organization_id = ${organizationId} GROUP BY organization_id, day, workspace_id, key_hash, model`
    const [sum] = await tx<
      { nano: string }[]
    >`SELECT sum(cost_nano)::text AS nano FROM ledger WHERE organization_id = ${organizationId}`
    const nano = sum?.nano ?? '0'
    await tx`
      UPDATE accounts SET lifetime_spent_nano = lifetime_spent_nano + ${nano}::bigint
      WHERE id IN (${accounts.organization}, ${accounts.workspace}, ${accounts.key})`
    return BigInt(nano)
  })
}

/** What is left of the history, by table. */
export async function countHistory({ sql }: Store): Promise<{ readonly due: Counts; readonly kept: Counts }> {
  return sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    const [row] = await tx<Record<string, number>[]>`
      SELECT (SELECT count(*)::int FROM ledger WHERE request_id LIKE 'request-%') AS ledger,
        (SELECT count(*)::int FROM audit WHERE object_id LIKE 'due-%') AS audit_due,
        (SELECT count(*)::int FROM audit WHERE object_id LIKE 'young-%') AS audit_kept,
        (SELECT count(*)::int FROM idempotency WHERE id LIKE 'due-%') AS idempotency_due,
        (SELECT count(*)::int FROM idempotency WHERE id LIKE 'young-%') AS idempotency_kept,
        (SELECT count(*)::int FROM webhook_deliveries WHERE job_id LIKE 'due-%') AS webhook_deliveries_due,
        (SELECT count(*)::int FROM webhook_deliveries WHERE job_id LIKE 'young-%') AS webhook_deliveries_kept,
        (SELECT count(*)::int FROM video_jobs WHERE id LIKE 'due-%') AS video_jobs_due,
        (SELECT count(*)::int FROM video_jobs WHERE id LIKE 'young-%') AS video_jobs_kept`
    const of = (what: string): Counts => ({
      ledger: what === 'due' ? (row?.['ledger'] ?? -1) : 0,
      ...Object.fromEntries(
        ['audit', 'idempotency', 'webhook_deliveries', 'video_jobs'].map((table) => [
          table,
          row?.[`${table}_${what}`] ?? -1,
        ]),
      ),
    })
    return { due: of('due'), kept: of('kept') }
  })
}
