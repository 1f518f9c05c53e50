import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { VIDEO_STATUSES } from '../../../../src/schemas/videos/video-jobs.ts'
import { DELIVERY_STATES } from '../../../../src/schemas/webhooks/webhook-deliveries.ts'
import { deliveriesIn, deliveryListing } from '../../../../src/server/store/operator/deliveries.ts'
import { jobListing, jobRows, listJobs } from '../../../../src/server/store/operator/jobs.ts'
import { reached, type Listing } from '../../../../src/server/store/operator/listed.ts'
import type { Fragment } from '../../../../src/server/store/base/guarded-row.ts'
import type { Queryable, Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { must } from '../../../support/must.ts'
import { nodesOf, rowsRead, type PlanNode, type ReportedPlan } from '../../../support/stores/plans.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { videoId } from '../../../support/videos/video-rows.ts'
import { ADMIN_LISTED_MAX } from '../../../../src/schemas/operator/admin-port-limits.ts'

interface Owner {
  readonly organizationId: string
  readonly workspaceId: string
}

const STATES = ['accepted', 'running', 'completed', 'failed']
const ROWS = 12_000

async function owner(store: Store, name: string): Promise<Owner> {
  const { organization, workspace } = must(await createOrganization(store, { name }))
  return { organizationId: organization.id, workspaceId: workspace.id }
}

/**
 * Jobs from the nth on, of all states in turn unless one is named; only the oldest is of the provider `rare`.
 */
async function fillJobs(
  { sql }: Store,
  { organizationId, workspaceId }: Owner,
  input: { from: number; count: number; state?: string },
): Promise<void> {
  await sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint, upstream_model,
      state, submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, expires_at)
    SELECT 'vid_' || lpad(n::text, 32, '0'), ${organizationId}, ${workspaceId}, 'k', 'k', 'r', 'm',
      CASE n WHEN ${input.from}::int THEN 'rare' ELSE 'p' END, 'e', 'u',
      COALESCE(${input.state ?? null}::text, (string_to_array(${STATES.join(',')}, ','))[1 + n % 4]),
      gen_random_uuid(), 1, 0, true, gen_random_uuid(), current_date, now()
    FROM generate_series(${input.from}::int, ${input.from + input.count - 1}::int) n`
}

async function fillDeliveries({ sql }: Store, { workspaceId }: Owner, count: number): Promise<void> {
  await sql`
    INSERT INTO webhook_deliveries (id, workspace_id, job_id, idempotency_key, url, host, body, state)
    SELECT gen_random_uuid(), ${workspaceId}, 'j', gen_random_uuid()::text, 'https://a.example', 'a.example', '{}',
      (string_to_array(${DELIVERY_STATES.join(',')}, ','))[1 + n % 3]
    FROM generate_series(1, ${count}::int) n`
}

/** How a statement is executed, and what it reads. */
async function planOf(sql: Queryable, query: Fragment): Promise<readonly PlanNode[]> {
  return nodesOf(await sql<ReportedPlan[]>`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`)
}

/** As `listed` asks. */
function planOfList(store: Store, listing: (sql: Queryable) => Listing): Promise<readonly PlanNode[]> {
  return store.sql.begin<readonly PlanNode[]>(async (tx) => {
    await tx`SET LOCAL enable_sort = off`
    return planOf(tx, reached(tx, listing(tx)))
  })
}

/** Where a large table is read whole, or all that a filter finds is put in order. */
function dear(plan: readonly PlanNode[]): readonly string[] {
  const isDear = ({ 'Node Type': type, 'Relation Name': table }: PlanNode): boolean =>
    /Seq Scan|^Sort|Incremental/.test(type) && table !== 'workspaces'
  return plan.filter(isDear).map((node) => `${node['Node Type']} ${node['Relation Name'] ?? ''}`)
}

const readOf = (plan: readonly PlanNode[]): number =>
  plan.filter((node) => /Index/.test(node['Node Type'])).reduce((sum, node) => sum + rowsRead(node), 0)

/** Many rows of two organizations. */
async function filled(t: Test): Promise<{ readonly store: Store; readonly own: Owner }> {
  const store = await openTestStore(t)
  const [own, elsewhere] = [await owner(store, 'own'), await owner(store, 'elsewhere')]
  await fillJobs(store, elsewhere, { from: 1, count: ROWS })
  await fillJobs(store, own, { from: ROWS + 1, count: ROWS })
  for (const one of [elsewhere, own]) await fillDeliveries(store, one, ROWS)
  await store.sql`ANALYZE`
  return { store, own }
}

const { store, own } = await filled(t)

t.test(
  'lists of jobs and deliveries read one range of an index for each of their states, however many rows there are',
  async (t) => {
    const { organizationId, workspaceId } = own
    const both = [
      { provider: 'p', status: 'failed' as const },
      { provider: 'rare', status: 'completed' as const },
    ]
    const jobs = [
      {},
      { provider: 'p' },
      { provider: 'rare' },
      ...both,
      ...VIDEO_STATUSES.map((status) => ({ status })),
    ]
    const ofJobs = jobs.flatMap((input) =>
      [null, workspaceId].map(
        (place) => (sql: Queryable) => jobListing(sql, { organizationId, ...input }, place),
      ),
    )
    const deliveries = [{}, ...DELIVERY_STATES.map((state) => ({ state }))]
    const ofDeliveries = deliveries.flatMap((input) =>
      [null, workspaceId].map(
        (place) => (sql: Queryable) => deliveryListing(sql, { organizationId, ...input }, place),
      ),
    )
    for (const listing of [...ofJobs, ...ofDeliveries]) {
      const plan = await planOfList(store, listing)
      t.same(dear(plan), [], JSON.stringify(plan))
      t.ok(readOf(plan) <= ADMIN_LISTED_MAX + 16, JSON.stringify(plan))
    }
  },
)

t.test('looks up each row of a page by its id, with its workspace and its delivery', async (t) => {
  const ids = Array.from({ length: 10 }, (_, nth) => videoId(ROWS + 1 + nth))
  const jobs = await planOf(store.sql, jobRows(store.sql, ids))
  t.same(dear(jobs), [], JSON.stringify(jobs))
  t.ok(readOf(jobs) <= 30, `${readOf(jobs)} entries`)
  const found = await store.sql<{ id: string }[]>`SELECT id FROM webhook_deliveries LIMIT 10`
  const deliveries = await planOf(
    store.sql,
    deliveriesIn(
      store.sql,
      found.map(({ id }) => id),
    ),
  )
  t.same(dear(deliveries), [], JSON.stringify(deliveries))
})

t.test(
  'a list searches the newest rows that match its first filter, and applies other filters to them',
  async (t) => {
    const store = await openTestStore(t)
    const { organizationId } = await owner(store, 'own')
    await fillJobs(
      store,
      { organizationId, workspaceId: randomUUID() },
      { from: 1, count: ADMIN_LISTED_MAX + 5, state: 'failed' },
    )
    const list = async (more: object) =>
      must(await listJobs(store, { organizationId, limit: 2, offset: 0, ...more }))
    const all = await list({})
    t.same(
      [all.totalCount, all.rows.map(({ id }) => id)],
      [ADMIN_LISTED_MAX, [videoId(ADMIN_LISTED_MAX + 5), videoId(ADMIN_LISTED_MAX + 4)]],
    )
    t.same(
      (await list({ offset: ADMIN_LISTED_MAX - 1 })).rows.map(({ id }) => id),
      [videoId(6)],
    )
    t.equal((await list({ provider: 'rare' })).totalCount, 1)
    t.equal((await list({ provider: 'rare', status: 'failed' })).totalCount, 0)
    await store.sql`UPDATE video_jobs SET state = 'completed'`
    t.equal(
      (await list({ provider: 'rare', status: 'completed' })).totalCount,
      1,
      'most jobs have completed: whose provider it was comes first',
    )
  },
)
