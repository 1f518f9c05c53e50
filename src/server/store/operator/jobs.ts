import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  isVideoEnding,
  VIDEO_ENDINGS,
  VIDEO_STATES,
  videoStatusOf,
  type VideoState,
} from '../../../schemas/videos/video-jobs.ts'
import type { DeliveryState } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { JobListInput, JobRecord } from '../../ports/operator/admin.ts'
import type { Page } from '../../ports/workspaces/workspaces.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Store } from '../base/open.ts'
import { readList, type Listing } from './listed.ts'

/** Newest first. Failures: workspace_unknown, store_unavailable. */
export async function listJobs(store: Store, input: JobListInput): Promise<Outcome<Page<JobRecord>>> {
  const page = await readList<JobRow>(store, input, {
    listing: (tx, workspaceId) => jobListing(tx, input, workspaceId),
    rows: (tx, ids) => tx<JobRow[]>`${jobRows(tx, ids)}`,
  })
  return page.ok ? ok({ ...page.value, rows: page.value.rows.map(jobOf) }) : page
}

/** In any order. */
export function jobRows(sql: Queryable, ids: readonly string[]): Fragment {
  return sql`SELECT ${jobColumns(sql)} FROM ${jobTables(sql)} WHERE j.id = ANY(string_to_array(${ids.join(',')}, ','))`
}

const OPEN = VIDEO_STATES.filter((state) => !isVideoEnding(state))
/** The states in the form in which the index of providers lists them. */
const ENDED = VIDEO_ENDINGS.map((state) => `'${state}'`).join(', ')

type Input = Pick<JobListInput, 'organizationId' | 'status' | 'provider'>

/**
 * The index of a list. A filter by a status other than `completed` matches the fewest rows and determines the
 * index first; then the workspace, then the provider, then the status; then all.
 */
export function jobListing(
  sql: Queryable,
  { organizationId, status, provider }: Input,
  workspaceId: string | null,
): Listing {
  const ofStatus = VIDEO_STATES.filter((state) => status === undefined || videoStatusOf(state) === status)
  const isOf = (states: readonly VideoState[]): Fragment =>
    sql`state IN (${sql.unsafe(states.map((state) => `'${state}'`).join(', '))})`
  const inState = (state: VideoState): Fragment =>
    sql`organization_id = ${organizationId} AND state = ${sql.unsafe(`'${state}'`)}`
  const byState = status === undefined ? null : { column: 'state', is: isOf(ofStatus) }
  const byProvider = provider === undefined ? null : { column: 'provider', is: sql`provider = ${provider}` }
  const table = 'video_jobs'
  const byWorkspace =
    workspaceId === null ? null : { column: 'workspace_id', is: sql`workspace_id = ${workspaceId}` }
  const besides = (...others: readonly (Listing['rest'][number] | null)[]) =>
    others.filter((one) => one !== null)
  const isRare = status !== undefined && status !== 'completed'
  if (byWorkspace !== null && !isRare)
    return { table, arms: [byWorkspace.is], rest: besides(byState, byProvider), order: 'id' }
  if (isRare || byProvider === null)
    return { table, arms: ofStatus.map(inState), rest: besides(byWorkspace, byProvider), order: 'born' }
  const ofProvider = { table, rest: besides(byState), order: 'born' } as const
  const ended = sql`organization_id = ${organizationId} AND ${byProvider.is} AND state IN (${sql.unsafe(ENDED)})`
  return { ...ofProvider, arms: [ended, ...OPEN.map((state) => sql`${inState(state)} AND ${byProvider.is}`)] }
}

export interface JobRow {
  readonly id: string
  readonly workspace_id: string
  /** Null for a workspace without a row. */
  readonly workspace_slug: string | null
  readonly model: string
  readonly provider: string
  readonly state: VideoState
  readonly submissions: number
  readonly polls: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly ended_at: Date | null
  readonly error: string | null
  readonly cost_nano: string
  readonly is_unpriced: boolean
  readonly delivery_id: string | null
  readonly delivery_state: DeliveryState | null
}

export function jobColumns(sql: Queryable): Fragment {
  return sql`
    j.id, j.workspace_id, w.slug AS workspace_slug, j.model, j.provider, j.state, j.submissions, j.polls, j.created_at, j.ended_at, j.error,
    j.cost_nano, j.is_unpriced, d.id AS delivery_id, d.state AS delivery_state,
    greatest(j.created_at, j.submitted_at, j.running_at, j.storing_at, j.ended_at) AS updated_at`
}

/**
 * A job ends only once, and the key of that event identifies its delivery. Ids of jobs have a different
 * collation, with which the index of deliveries would not be used.
 */
export function jobTables(sql: Queryable): Fragment {
  return sql`
    video_jobs j LEFT JOIN workspaces w ON w.id = j.workspace_id
    LEFT JOIN webhook_deliveries d ON d.idempotency_key = (j.id || '-' || j.state) COLLATE "default"`
}

export function jobOf(row: JobRow): JobRecord {
  const { delivery_id: deliveryId, delivery_state: deliveryState } = row
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    workspaceSlug: row.workspace_slug ?? '',
    model: row.model,
    provider: row.provider,
    state: row.state,
    submissions: row.submissions,
    polls: row.polls,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    error: row.error,
    costNano: row.is_unpriced ? null : Number(row.cost_nano),
    delivery: deliveryId === null || deliveryState === null ? null : { id: deliveryId, state: deliveryState },
  }
}
