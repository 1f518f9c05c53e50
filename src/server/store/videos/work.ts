import {
  VIDEO_LEASE_MS,
  VIDEO_RECENT_MS,
  VIDEO_RENEWED_AT_ONCE,
} from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, VideoEnd, VideoWork } from '../../ports/videos/video-work.ts'
import type { VideoAttached } from '../../ports/videos/videos.ts'
import { plain } from '../money/lending/books.ts'
import type { Counted, Fragment } from '../base/guarded-row.ts'
import { newGenerationId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { violatedUnique } from '../base/translate.ts'
import { claim, countDue } from './claiming.ts'
import { EndBatches } from './end-batches.ts'
import type { EndContext, EndInput } from './ends.ts'
import { expireClips } from './expiry.ts'
import { claimedOf, NOTHING_ATTACHED, OPEN_STATES, videoRows, type ReadRow } from './rows.ts'
import { unfinished } from './settling.ts'
import { VIEW_COLUMNS, viewOf, type VideoViewRow } from './views.ts'

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

/** Parts of a list of claims: a statement locks its rows until its end, and ends of jobs wait for that. */
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

/**
 * Shortens the lease after the call that needed a longer one: the job of a runner that dies now is free again
 * earlier.
 */
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

/** Uses the unique index of upstream ids: one account of a provider gives an id once. */
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
