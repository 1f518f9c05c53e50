import t, { type Test } from 'tap'
import {
  agedRows,
  batchStatement,
  DEAD_LETTERS,
  IDEMPOTENCY,
  IDEMPOTENCY_KEPT,
  JOBS,
  WEBHOOKS,
  workGently,
  type AgedRows,
} from '../../../../../src/server/store/lifecycle/retention/aged-rows.ts'
import type { Store, Transaction } from '../../../../../src/server/store/base/open.ts'
import { openFileStand } from '../../../../support/files/files.ts'
import { nodesOf, rowsRead, type PlanNode, type ReportedPlan } from '../../../../support/stores/plans.ts'
import { plantAnswers, plantDeliveries, plantJobs, runStep } from '../../../../support/operator/retention.ts'

t.setTimeout(600_000)

const ROWS = 10_000
const BATCH = 100
const DAY_MS = 86_400_000

/** Of one batch, run and undone. */
async function planOf(store: Store, rows: AgedRows, place: readonly string[]): Promise<readonly PlanNode[]> {
  const undone = new Error('undone')
  let plan: readonly PlanNode[] | undefined
  await store.sql
    .begin(async (tx: Transaction) => {
      await workGently(tx)
      const reported = await tx.unsafe<ReportedPlan[]>(
        `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${batchStatement(rows, place.length > 0)}`,
        [DAY_MS, BATCH, ...place],
      )
      plan = nodesOf(reported)
      throw undone
    })
    .catch((problem: unknown) => {
      if (problem !== undone) throw problem
    })
  if (plan === undefined) throw new Error('there is no plan')
  return plan
}

/** For both tests. */
async function filled(t: Test): Promise<Store> {
  const { store, organizationId, workspaceId } = await openFileStand(t)
  const plant = { organizationId, workspaceId, count: ROWS, fromDays: 9, toDays: 2 }
  // The planner keeps its figures of empty tables, because no ANALYZE runs.
  await plantAnswers(store.sql, { ...plant, name: 'a' })
  await plantJobs(store.sql, { ...plant, name: 'j' })
  for (const state of ['delivered', 'dead'] as const)
    await plantDeliveries(store.sql, { ...plant, state, name: state })
  return store
}

const PLACES: readonly (readonly [AgedRows, string])[] = [
  [IDEMPOTENCY, 'a5000'],
  [WEBHOOKS, '80000000-0000-0000-0000-000000000000'],
  [DEAD_LETTERS, '80000000-0000-0000-0000-000000000000'],
  [JOBS, 'j5000'],
]

const store = await filled(t)

t.test(
  'each batch uses only index scans and reads only its own rows, whatever the table size and starting place',
  async (t) => {
    for (const [rows, id] of PLACES) {
      for (const place of [[], [new Date(Date.now() - 5 * DAY_MS).toISOString(), id]]) {
        const plan = await planOf(store, rows, place)
        const scans = plan.filter(
          (node) => node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable',
        )
        t.same(
          scans.map((node) => node['Node Type']).filter((type) => !/^Index (Only )?Scan$/.test(type)),
          [],
          `${rows.kind}: no scan of a table`,
        )
        const visited = scans.map(rowsRead)
        t.ok(Math.max(...visited) <= BATCH + 1, `${rows.kind}: ${visited.join(', ')} rows were visited`)
      }
    }
  },
)

t.test('a large table is pruned while an older transaction still sees all removed rows', async (t) => {
  await store.sql.begin('ISOLATION LEVEL REPEATABLE READ', async (reader) => {
    await reader`SELECT count(*) FROM idempotency`
    t.match(await runStep(store, agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)), { rows: ROWS, end: 'done' })
    t.match((await reader`SELECT count(*)::int AS rows FROM idempotency`)[0], { rows: ROWS })
  })
})
