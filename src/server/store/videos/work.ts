import {
  VIDEO_CLIPS_MAX,
  VIDEO_LEASE_MS,
  VIDEO_RENEWED_AT_ONCE,
} from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, VideoEnd, VideoWork } from '../../ports/videos/video-work.ts'
import type { VideoAttached } from '../../ports/videos/videos.ts'
import { plain } from '../money/lending/books.ts'
import type { Counted, Fragment } from '../base/guarded-row.ts'
import { newGenerationId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { violatedUnique } from '../base/translate.ts'
import { EndBatches } from './end-batches.ts'
import type { EndContext, EndInput } from './ends.ts'
import { claimedOf, NOTHING_ATTACHED, OPEN_STATES, type ReadRow, videoRows } from './rows.ts'
import { unfinished } from './settling.ts'
import { VIEW_COLUMNS, viewOf, type VideoViewRow } from './views.ts'

/** Milliseconds after a job's end in which its view is written again when Redis returns after an outage. Decision. */
export const VIDEO_RECENT_MS = 600_000

/** The work of the runner on rows of jobs, in Postgres. */
export function openVideoWork(store: Store, context: EndContext): VideoWork {
  const ends = new EndBatches(store, context)
  return {
    claim: (room, leaseMs) => claim(store.sql, room, leaseMs),
    due: () => countDue(store.sql),
    attached: (job) => attached(store.sql, job),
    async renew(claims, leaseMs) {
      const lost: string[] = []
      for (const some of inParts(claims))
        lost.push(...(await videoRows.renewAll(store.sql, some.map(countedOf), leaseMs)))
      return lost
    },
    async release(claims, dueInMs) {
      for (const some of inParts(claims)) await videoRows.releaseAll(store.sql, some.map(countedOf), dueInMs)
    },
    async submitting(job, { leaseMs, callMs }) {
      const { sql } = store
      const instant = (ms: number) => sql`clock_timestamp() + ${ms} * interval '1 ms'`
      return claimed(
        await videoRows.step<ReadRow>(
          sql,
          job,
          'submitting',
          sql`
        submissions = submissions + 1, submitted_at = clock_timestamp(), submit_ends_at = ${instant(callMs)},
        lease_until = ${instant(leaseMs + callMs)}`,
        ),
      )
    },
    async unsubmitted(job) {
      return claimed(
        await videoRows.step<ReadRow>(
          store.sql,
          job,
          'accepted',
          store.sql`submit_ends_at = NULL, ${leaseAnew(store.sql)}`,
        ),
      )
    },
    submitted: (job, upstreamId) => submitted(store.sql, job, upstreamId),
    async made(job, made) {
      return claimed(
        await videoRows.step<ReadRow>(
          store.sql,
          job,
          'storing',
          store.sql`
        made = ${plain(JSON.stringify(made))}, polls = ${job.polls}, storing_at = clock_timestamp()`,
        ),
      )
    },
    async end(job, end) {
      const row = await ends.end(inputOf(job, end))
      return row === null ? null : viewOf(row)
    },
    owned: (job, upstreamIds) => owned(store.sql, job, upstreamIds),
    async view(id) {
      const { sql } = store
      const [row] = await sql<VideoViewRow[]>`SELECT ${sql(VIEW_COLUMNS)} FROM video_jobs WHERE id = ${id}`
      return row === undefined ? null : viewOf(row)
    },
    views: async (after, countMax) => (await recent(store.sql, after, countMax)).map(viewOf),
    expireClips: (countMax) => expireClips(store.sql, countMax),
  }
}

/** Parts of a list of claims: a statement locks its rows until it is finished, and the ends of jobs wait for those rows. */
function inParts<T>(claims: readonly T[]): readonly (readonly T[])[] {
  const parts = Math.ceil(claims.length / VIDEO_RENEWED_AT_ONCE)
  return Array.from({ length: parts }, (_, nth) =>
    claims.slice(nth * VIDEO_RENEWED_AT_ONCE, (nth + 1) * VIDEO_RENEWED_AT_ONCE),
  )
}

function countedOf({ id, attempt, polls }: Pick<ClaimedVideo, 'id' | 'attempt' | 'polls'>): Counted {
  return { id, attempt, kept: polls }
}

function claimed(row: ReadRow | null): ClaimedVideo | null {
  return row === null ? null : claimedOf(row)
}

/** Shortens the lease after the call that needed a longer one, so that the job is free again earlier if this runner dies. */
function leaseAnew(sql: Queryable): Fragment {
  return sql`lease_until = clock_timestamp() + ${VIDEO_LEASE_MS} * interval '1 ms'`
}

async function submitted(
  sql: Queryable,
  job: ClaimedVideo,
  upstreamId: string,
): Promise<ClaimedVideo | 'owned' | 'lost'> {
  try {
    const row = await videoRows.step<ReadRow>(
      sql,
      job,
      'running',
      sql`
      upstream_id = ${upstreamId}, generation_id = COALESCE(generation_id, ${newGenerationId()}), submit_ends_at = NULL,
      running_at = clock_timestamp(), ${leaseAnew(sql)}`,
    )
    return claimed(row) ?? 'lost'
  } catch (problem) {
    if (violatedUnique(problem) === 'video_jobs_upstream_key') return 'owned'
    throw problem
  }
}

/** Uses the unique index of upstream ids: a provider gives an id only once per account. */
async function owned(
  sql: Queryable,
  { id, workspaceId, target }: ClaimedVideo,
  upstreamIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (upstreamIds.length === 0) return new Set()
  const account = target.ownSecret === null ? '' : workspaceId + target.ownSecret
  const rows = await sql<{ upstream_id: string }[]>`
    SELECT upstream_id FROM video_jobs
    WHERE provider = ${target.provider} AND (CASE WHEN own_secret IS NULL THEN '' ELSE workspace_id::text || own_secret END) = ${account}
      AND upstream_id IN (SELECT json_array_elements_text(${JSON.stringify(upstreamIds)}::text::json)) AND upstream_id IS NOT NULL AND id <> ${id}`
  return new Set(rows.map((row) => row.upstream_id))
}

function inputOf({ id, attempt, polls }: ClaimedVideo, end: VideoEnd): EndInput {
  const input = { id, attempt, polls, state: end.kind }
  switch (end.kind) {
    case 'completed':
      return { ...input, error: null, clips: end.clips, settling: () => 'charged' }
    case 'failed':
      return { ...input, error: end.error, clips: [], settling: () => (end.mayHaveCost ? 'lost' : 'free') }
    case 'expired':
      return { ...input, error: end.error, clips: [], settling: unfinished }
    default:
      return end satisfies never
  }
}

async function attached(
  sql: Queryable,
  { id, attempt }: Pick<ClaimedVideo, 'id' | 'attempt'>,
): Promise<VideoAttached | null> {
  const [row] = await sql<
    { attached: string | null }[]
  >`SELECT attached FROM video_jobs WHERE id = ${id} AND attempt = ${attempt}`
  if (row === undefined) return null
  return row.attached === null ? NOTHING_ATTACHED : (JSON.parse(row.attached) as VideoAttached)
}

function recent(sql: Queryable, after: string | null, countMax: number): Promise<readonly VideoViewRow[]> {
  const behind = after === null ? sql`` : sql`AND id > ${after}`
  const columns = sql.unsafe(VIEW_COLUMNS.join(', '))
  return sql<VideoViewRow[]>`
    SELECT * FROM (
      (SELECT ${columns} FROM video_jobs WHERE state IN (${sql.unsafe(OPEN_STATES)}) ${behind} ORDER BY id LIMIT ${countMax})
      UNION ALL
      (SELECT ${columns} FROM video_jobs WHERE ended_at > now() - ${VIDEO_RECENT_MS} * interval '1 ms' ${behind} ORDER BY id LIMIT ${countMax})) AS shown
    ORDER BY id LIMIT ${countMax}`
}

/** Removes rows of expired clips, the oldest first. @returns their objects, whose bytes are removed next */
async function expireClips(sql: Queryable, countMax: number): Promise<readonly string[]> {
  const jobsMax = Math.max(1, Math.floor(countMax / VIDEO_CLIPS_MAX))
  const rows = await sql<{ object_id: string }[]>`
    WITH due AS MATERIALIZED (
      SELECT id FROM video_jobs WHERE clips_expire_at < now() ORDER BY clips_expire_at LIMIT ${jobsMax} FOR UPDATE SKIP LOCKED),
    noted AS (UPDATE video_jobs AS j SET clips_expire_at = NULL FROM due WHERE j.id = due.id)
    DELETE FROM video_clips AS c USING due WHERE c.job_id = due.id RETURNING c.object_id`
  return rows.map((row) => row.object_id)
}

/**
 * Due jobs of one provider that a claim reads even when it may take fewer. They are divided among the workspaces: with
 * more workspaces, fewer jobs of each are read. Decision.
 */
const SEEN_MAX = 5_000
/** Due jobs of a workspace and provider that are counted. Decision. */
const COUNTED_MAX = 300

/**
 * Claims due jobs, alternating between the workspaces of each provider, longest due first within a workspace, so that
 * many jobs of one workspace do not delay others. Jobs that another process is just claiming are skipped.
 */
async function claim(
  sql: Queryable,
  room: ReadonlyMap<string, number>,
  leaseMs: number,
): Promise<readonly ClaimedVideo[]> {
  const inputs = [...room]
    .filter(([, count]) => count > 0)
    .map(([provider, count]) => ({ provider, room: count }))
  if (inputs.length === 0) return []
  const taken = await videoRows.claimAll<ReadRow>(sql, chosen(sql, inputs), leaseMs)
  return taken.map(claimedOf)
}

interface Input {
  readonly provider: string
  readonly room: number
}

function chosen(sql: Queryable, inputs: readonly Input[]): Fragment {
  // Reads twice as many jobs as there is room for, since another process may be claiming the first ones.
  return sql`
    WITH RECURSIVE wish AS (SELECT * FROM json_to_recordset(${JSON.stringify(inputs)}::text::json) AS w(provider text, room integer)),
    ${ownersOf(sql)},
    capped AS (
      SELECT provider, workspace_id, least(2 * room, greatest((2 * room + n - 1) / n, ${SEEN_MAX}::integer / n)) AS most
      FROM (SELECT o.*, w.room, (count(*) OVER (PARTITION BY o.provider))::integer AS n FROM owner o JOIN wish w USING (provider)) AS counted),
    seen AS (
      SELECT c.provider, d.id, d.lease_until, row_number() OVER (PARTITION BY c.provider, c.workspace_id ORDER BY d.lease_until, d.id) AS turn
      FROM capped c CROSS JOIN LATERAL (
        SELECT id, lease_until FROM video_jobs j
        WHERE j.provider = c.provider AND j.workspace_id = c.workspace_id AND ${videoRows.hasWork(sql)}
        ORDER BY lease_until LIMIT c.most) AS d),
    ranked AS MATERIALIZED (SELECT provider, id, row_number() OVER (PARTITION BY provider ORDER BY turn, lease_until, id) AS nth FROM seen)
    SELECT h.id FROM wish w CROSS JOIN LATERAL (
      SELECT j.id FROM ranked r JOIN video_jobs j ON j.id = r.id
      WHERE r.provider = w.provider AND r.nth <= 2 * w.room AND ${videoRows.hasWork(sql)}
      ORDER BY r.nth LIMIT w.room FOR UPDATE OF j SKIP LOCKED) AS h`
}

/** `owner`: workspaces with open jobs of each `wish`, found by jumps along the index, since one workspace may have many jobs. */
function ownersOf(sql: Queryable): Fragment {
  const open = sql.unsafe(`state IN (${OPEN_STATES})`)
  return sql`
    owner AS (
      SELECT w.provider, f.workspace_id FROM wish w CROSS JOIN LATERAL (
        SELECT workspace_id FROM video_jobs WHERE provider = w.provider AND ${open} ORDER BY workspace_id LIMIT 1) AS f
      UNION ALL
      SELECT o.provider, f.workspace_id FROM owner o CROSS JOIN LATERAL (
        SELECT workspace_id FROM video_jobs WHERE provider = o.provider AND workspace_id > o.workspace_id AND ${open}
        ORDER BY workspace_id LIMIT 1) AS f)`
}

/** Providers with due jobs, each with their number, COUNTED_MAX at most for a workspace. */
async function countDue(sql: Queryable): Promise<ReadonlyMap<string, number>> {
  const open = sql.unsafe(`state IN (${OPEN_STATES})`)
  const rows = await sql<{ provider: string; count: number }[]>`
    WITH RECURSIVE wish AS (
      (SELECT provider FROM video_jobs WHERE ${open} ORDER BY provider LIMIT 1)
      UNION ALL
      SELECT f.provider FROM wish w CROSS JOIN LATERAL (
        SELECT provider FROM video_jobs WHERE provider > w.provider AND ${open} ORDER BY provider LIMIT 1) AS f),
    ${ownersOf(sql)}
    SELECT o.provider, sum(d.count)::integer AS count FROM owner o CROSS JOIN LATERAL (
      SELECT count(*) FROM (
        SELECT FROM video_jobs j WHERE j.provider = o.provider AND j.workspace_id = o.workspace_id AND ${videoRows.hasWork(sql)}
        LIMIT ${COUNTED_MAX}) AS found) AS d
    GROUP BY o.provider HAVING sum(d.count) > 0`
  return new Map(rows.map(({ provider, count }) => [provider, count]))
}
