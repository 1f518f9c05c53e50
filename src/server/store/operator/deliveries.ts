import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { DELIVERY_STATES, type DeliveryState } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { AdminActor, DeadInput, DeliveryListInput, DeliveryRecord } from '../../ports/operator/admin.ts'
import type { Page } from '../../ports/workspaces/workspaces.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { isId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { replayDeliveries } from '../webhooks/dead-letters.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'
import type { JobRow } from './jobs.ts'
import { readList, type Listing } from './listed.ts'

/** Newest first. Failures: workspace_unknown, store_unavailable. */
export function listDeliveriesOf(
  store: Store,
  input: DeliveryListInput,
): Promise<Outcome<Page<DeliveryRecord>>> {
  return readList<DeliveryRecord>(store, input, {
    listing: (tx, workspaceId) => deliveryListing(tx, input, workspaceId),
    rows: (tx, ids) => tx<DeliveryRecord[]>`${deliveriesIn(tx, ids)}`,
  })
}

/** Deliveries of every organization for the command line, newest first. Failure: store_unavailable. */
export function listDeliveries(
  { sql }: Store,
  { workspaceId, state, limit }: SeenDeliveries,
): Promise<Outcome<readonly DeliveryRecord[]>> {
  const isThere = workspaceId === null ? sql`true` : sql`d.workspace_id = ${workspaceId}`
  const isIn = state === null ? sql`true` : sql`d.state = ${state}`
  return reach(async () =>
    ok(
      await sql<DeliveryRecord[]>`
        ${deliveryRows(sql)} WHERE ${isThere} AND ${isIn} ORDER BY d.id DESC LIMIT ${limit}`,
    ),
  )
}

interface SeenDeliveries {
  /** Null = all workspaces. */
  readonly workspaceId: string | null
  readonly state: DeliveryState | null
  readonly limit: number
}

/** In any order. */
export function deliveriesIn(sql: Queryable, ids: readonly string[]): Fragment {
  return sql`${deliveryRows(sql)} WHERE d.id = ANY(string_to_array(${ids.join(',')}, ',')::uuid[])`
}

/**
 * The index of a list. A filter by a state other than `delivered` matches the fewest rows and determines the
 * index first, `dead` together with the workspace; then the workspace; then all states.
 */
export function deliveryListing(
  sql: Queryable,
  { organizationId, state }: Pick<DeliveryListInput, 'organizationId' | 'state'>,
  workspaceId: string | null,
): Listing {
  const table = 'webhook_deliveries'
  const isIn = (one: string): Fragment => sql`state = ${sql.unsafe(`'${one}'`)}`
  if (workspaceId !== null && state === 'dead')
    return { table, arms: [sql`workspace_id = ${workspaceId} AND ${isIn(state)}`], rest: [], order: 'id' }
  if (workspaceId !== null && state !== 'waiting') {
    return {
      table,
      arms: [sql`workspace_id = ${workspaceId}`],
      rest: state === undefined ? [] : [{ column: 'state', is: isIn(state) }],
      order: 'id',
    }
  }
  const states = state === undefined ? DELIVERY_STATES : [state]
  const rest =
    workspaceId === null ? [] : [{ column: 'workspace_id', is: sql`workspace_id = ${workspaceId}` }]
  return {
    table,
    arms: states.map((one) => sql`organization_id = ${organizationId} AND ${isIn(one)}`),
    rest,
    order: 'born',
  }
}

/** The delivery about the end of a job; each job has at most one. */
export function deliveriesOfJob(
  sql: Queryable,
  { id, state }: Pick<JobRow, 'id' | 'state'>,
): Promise<readonly DeliveryRecord[]> {
  return sql<DeliveryRecord[]>`${deliveryRows(sql)} WHERE d.idempotency_key = ${`${id}-${state}`}`
}

/** A query of deliveries; conditions are added with WHERE. */
function deliveryRows(sql: Queryable): Fragment {
  return sql`
    SELECT d.id, d.workspace_id AS "workspaceId", COALESCE(w.slug, '') AS "workspaceSlug", d.job_id AS "jobId", d.host, d.state,
      d.tries AS attempts, d.last_status AS "lastStatus", d.last_reason AS "lastReason", d.created_at AS "createdAt",
      CASE WHEN d.state = 'waiting' THEN d.lease_until END AS "dueAt", d.ended_at AS "endedAt"
    FROM webhook_deliveries d LEFT JOIN workspaces w ON w.id = d.workspace_id`
}

/** Failures: delivery_unknown, delivery_waiting, store_unavailable. */
export function replayDelivery(
  store: Store,
  organizationId: string,
  { id, by }: { readonly id: string; readonly by: AdminActor },
): Promise<Outcome<null>> {
  return reach(async () => {
    if (!isId(id)) return fail('delivery_unknown')
    const replayed = await replayDeliveries(store, { id, organizationId }, by)
    if (!replayed.ok) return replayed
    if (replayed.value.count === 1) return ok(null)
    const [row] = await store.sql`
      SELECT 1 FROM webhook_deliveries d JOIN workspaces w ON w.id = d.workspace_id AND w.deleted_at IS NULL
      WHERE d.id = ${id} AND w.organization_id = ${organizationId}`
    return fail(row === undefined ? 'delivery_unknown' : 'delivery_waiting')
  })
}

/** Failures: workspace_unknown, store_unavailable. */
export function replayDeadOf(
  store: Store,
  { organizationId, workspace, countMax }: DeadInput,
  by: AdminActor,
): Promise<Outcome<{ readonly replayed: number; readonly hasMore: boolean }>> {
  return reach(async () => {
    const place = workspace === null ? null : await workspaceIdOf(store.sql, organizationId, workspace)
    if (place?.ok === false) return place
    const replayed = await replayDeliveries(
      store,
      { id: null, organizationId, workspaceId: place?.value ?? null, countMax },
      by,
    )
    return replayed.ok ? ok({ replayed: replayed.value.count, hasMore: replayed.value.hasMore }) : replayed
  })
}
