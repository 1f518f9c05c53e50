import type { NewDelivery } from '../../ports/webhooks/webhooks.ts'
import { newId } from '../base/ids.ts'
import type { Transaction, Sql, Store } from '../base/open.ts'
import type { VideoEnding } from '../../../schemas/videos/video-jobs.ts'
import { type EndedVideo, webhookBody } from '../../../schemas/webhooks/webhook-body.ts'
import { ok } from '../../../schemas/failures.ts'
import { WEBHOOK_EVENTS_BACK_S_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import type {
  EndedEvent,
  EndedEvents,
  EventPage,
  EventPlace,
  EventsInput,
} from '../../ports/webhooks/operator-webhooks.ts'
import { reach } from '../base/translate.ts'

/**
 * Writes deliveries in the transaction of the change that they report; a runner that is woken after the
 * commit finds them. A delivery whose key exists stays unchanged.
 */
export async function insertDeliveries(tx: Transaction, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const rows = deliveries.map(({ workspaceId, jobId, idempotencyKey, url, body }) => ({
    id: newId(),
    workspace_id: workspaceId,
    job_id: jobId,
    idempotency_key: idempotencyKey,
    url,
    host: hostOf(url),
    body,
  }))
  await tx`INSERT INTO webhook_deliveries ${tx(rows)} ON CONFLICT (idempotency_key) DO NOTHING`
}

/**
 * The host that distinguishes receivers: a name without its port, so that a receiver with many ports gets no
 * more than its share. A malformed URL has the empty host: its delivery fails when it is attempted.
 */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : ''
}

/** The columns from which the event of an ended job is built. Postgres sends a bigint as text. */
interface EndedVideoRow {
  readonly id: string
  readonly state: string
  readonly ended_at: Date
  readonly generation_id: string | null
  readonly model: string
  readonly error: string | null
  readonly outputs: number
  readonly cost_nano: string
  readonly is_unpriced: boolean
  readonly own_secret: string | null
}

/** The ended job that the row holds, in the shape of its event. */
export function endedVideoOf(row: EndedVideoRow): EndedVideo {
  return {
    id: row.id,
    status: row.state as VideoEnding,
    endedAt: row.ended_at,
    generationId: row.generation_id,
    model: row.model,
    error: row.error,
    outputs: row.outputs,
    costNano: row.is_unpriced ? null : Number(row.cost_nano),
    isByok: row.own_secret !== null,
  }
}

/**
 * Milliseconds by which a list of events overlaps the one before: the end of a job is written a little after its
 * recorded instant. Decision.
 */
export const WEBHOOK_EVENTS_SETTLE_MS = 5_000

const US_PER_S = 1_000_000
const US_PER_MS = 1_000

/**
 * Events of ended jobs. The ids of jobs have their own collation; with it Postgres could not use the index of
 * deliveries.
 * @param origin the origin by which callers reach the service, for bodies of jobs without a delivery
 */
export function openEndedEvents(store: Store, origin: string): EndedEvents {
  return { list: (input) => reach(async () => ok(await listEvents(store.sql, input, origin))) }
}

async function listEvents(sql: Sql, input: EventsInput, origin: string): Promise<EventPage> {
  // Read before the rows: rows that are written later end after this instant, less the time that writing takes.
  const nowUs = await clockOf(sql)
  const from = placeOf(input, nowUs)
  const rows = await sql<EventRow[]>`
    SELECT j.id, j.state, j.ended_at, (extract(epoch FROM j.ended_at) * ${US_PER_S})::bigint AS ended_us, j.generation_id,
      j.model, j.error, j.outputs, j.cost_nano, j.is_unpriced, j.own_secret, d.id AS delivery_id, d.body
    FROM video_jobs j LEFT JOIN webhook_deliveries d ON d.idempotency_key = (j.id || '-' || j.state) COLLATE "default"
    WHERE j.ended_at >= ${instantOf(sql, from)} AND (j.ended_at, j.id) > (${instantOf(sql, from)}, ${from.jobId})
      AND j.workspace_id = ${input.workspaceId} AND j.organization_id = ${input.organizationId}
    ORDER BY j.ended_at, j.id LIMIT ${input.limit + 1}`
  const listed = rows.slice(0, input.limit)
  const [last, hasMore] = [listed.at(-1), rows.length > input.limit]
  const settled = { us: nowUs - WEBHOOK_EVENTS_SETTLE_MS * US_PER_MS, jobId: '' }
  const next = hasMore && last !== undefined ? { us: Number(last.ended_us), jobId: last.id } : settled
  return { events: listed.map((row) => eventOf(row, origin)), hasMore, next }
}

async function clockOf(sql: Sql): Promise<number> {
  const [row] = await sql<
    { us: string }[]
  >`SELECT (extract(epoch FROM statement_timestamp()) * ${US_PER_S})::bigint AS us`
  return Number(row?.us)
}

function placeOf({ after, backS }: EventsInput, nowUs: number): EventPlace {
  const earliest = nowUs - WEBHOOK_EVENTS_BACK_S_MAX * US_PER_S
  const from = after ?? { us: nowUs - backS * US_PER_S, jobId: '' }
  return from.us < earliest ? { us: earliest, jobId: '' } : from
}

function instantOf(sql: Sql, { us }: EventPlace) {
  return sql`(timestamptz 'epoch' + ${us}::float8 * interval '1 microsecond')`
}

interface EventRow extends EndedVideoRow {
  readonly ended_us: string
  readonly delivery_id: string | null
  readonly body: string | null
}

function eventOf(row: EventRow, origin: string): EndedEvent {
  return {
    id: row.delivery_id ?? uuidOf(row.id),
    jobId: row.id,
    idempotencyKey: `${row.id}-${row.state}`,
    endedAt: row.ended_at,
    body: row.body ?? webhookBody(endedVideoOf(row), origin),
  }
}

/** The digits of a job's id as a UUID: the same at each listing of a job that has no delivery. */
function uuidOf(jobId: string): string {
  return jobId.replace(/^vid_/, '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
