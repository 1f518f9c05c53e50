import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { VIDEO_CLIPS_MAX } from '../../../schemas/videos/video-limits.ts'
import type {
  PreviousVideo,
  VideoJobs,
  VideoOutput,
  VideoPage,
  VideoView,
  VideoViews,
} from '../../ports/videos/videos.ts'
import type { Store } from '../base/open.ts'
import { isVideoId } from '../base/ids.ts'
import { reach } from '../base/translate.ts'
import { Acceptor, type AcceptorOptions } from './acceptor.ts'
import type { VideoRow } from './rows.ts'
import { VIEW_COLUMNS, viewOf, type VideoViewRow } from './views.ts'

export interface VideoJobsOptions extends Pick<AcceptorOptions, 'jobMs' | 'now'> {
  readonly store: Store
  readonly views: VideoViews
  /** Ends a job and informs runners. */
  readonly cancel: VideoJobs['cancel']
  readonly after?: AcceptorOptions['after']
}

/** Video jobs of one front: accepted in batches, read by their live views, cancelled by `openVideoCancel`. Design §7. */
export function openVideoJobs(options: VideoJobsOptions): VideoJobs {
  const acceptor = new Acceptor({ after: (ms, run) => void setTimeout(run, ms), ...options })
  return {
    accept: (input) => acceptor.accept(input),
    cancel: options.cancel,
    ...openVideoReads(options),
  }
}

interface ReadDeps {
  readonly store: Store
  readonly views: Pick<VideoViews, 'get' | 'put' | 'putAll'>
}

type VideoReads = Pick<VideoJobs, 'get' | 'list' | 'output' | 'previous'>

/**
 * Reads of video jobs. A poller never sees a job move back, nor a 404 after a 202:
 * - The row exists before the 202, and moves forward only. Each view is put after the commit of its change,
 *   and never over a view that is further along: so no view of a job is further along than its row.
 * - A view may be older than the row. A caller sees the row only through this store, which puts the view of
 *   the row before it returns: from then on no view is older than that row.
 * - Without Redis that put fails, and rows are read. When Redis is back, with old views or with none, views
 *   of open jobs are not used until the writers of newer views, including this store, have had time to put
 *   them. Views of ended jobs stay valid.
 */
export function openVideoReads(deps: ReadDeps): VideoReads {
  return {
    get: (workspaceId, id) => reach(() => get(deps, workspaceId, id)),
    list: (workspaceId, page) => reach(() => list(deps, workspaceId, page)),
    output: (workspaceId, id, index) => reach(() => output(deps, { workspaceId, id, index })),
    previous: (workspaceId, id) => reach(() => previous(deps, workspaceId, id)),
  }
}

async function get(
  { store: { sql }, views }: ReadDeps,
  workspaceId: string,
  id: string,
): Promise<Outcome<VideoView>> {
  // A text that cannot be a job's id reaches neither Redis nor Postgres.
  if (!isVideoId(id)) return fail('video_unknown')
  const kept = await views.get(id)
  if (kept !== null) return kept.workspaceId === workspaceId ? ok(kept) : fail('video_unknown')
  const [row] = await sql<VideoViewRow[]>`
    SELECT ${sql(VIEW_COLUMNS)} FROM video_jobs WHERE id = ${id} AND workspace_id = ${workspaceId}`
  if (row === undefined) return fail('video_unknown')
  const view = viewOf(row)
  await views.put(view)
  return ok(view)
}

async function list(
  { store: { sql }, views }: ReadDeps,
  workspaceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Outcome<VideoPage>> {
  if (after !== null && !isVideoId(after)) return ok({ videos: [], hasMore: false })
  const rows = await sql<VideoViewRow[]>`
    SELECT ${sql(VIEW_COLUMNS)} FROM video_jobs
    WHERE workspace_id = ${workspaceId} AND ${after === null ? sql`true` : sql`id < ${after}`} ORDER BY id DESC LIMIT ${limit + 1}`
  const videos = rows.slice(0, limit).map(viewOf)
  if (videos.length > 0) await views.putAll(videos)
  return ok({ videos, hasMore: rows.length > limit })
}

interface OutputRow extends VideoViewRow {
  readonly object_id: string | null
  readonly data_key_id: string
  readonly size_bytes: string
  readonly sha256: string
  readonly clip_created_at: Date
}

async function output(
  { store: { sql }, views }: ReadDeps,
  { workspaceId, id, index }: { readonly workspaceId: string; readonly id: string; readonly index: number },
): Promise<Outcome<VideoOutput>> {
  if (!isVideoId(id)) return fail('video_unknown')
  const [row] = await sql<OutputRow[]>`
    SELECT ${sql(VIEW_COLUMNS.map((column) => `j.${column}`))},
      c.object_id, c.data_key_id, c.size_bytes, c.sha256, c.created_at AS clip_created_at
    FROM video_jobs j LEFT JOIN video_clips c ON c.job_id = j.id AND c.index = ${Math.min(index, VIDEO_CLIPS_MAX)}
    WHERE j.id = ${id} AND j.workspace_id = ${workspaceId}`
  if (row === undefined) return fail('video_unknown')
  await views.put(viewOf(row))
  if (row.state !== 'completed') return fail('video_unfinished')
  if (index >= row.outputs) return fail('video_output_unknown')
  if (row.object_id === null) return fail('video_expired')
  return ok({
    jobId: id,
    index,
    objectId: row.object_id,
    workspaceId,
    dataKeyId: row.data_key_id,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    createdAt: row.clip_created_at,
  })
}

async function previous(
  { store: { sql }, views }: ReadDeps,
  workspaceId: string,
  id: string,
): Promise<Outcome<PreviousVideo>> {
  if (!isVideoId(id)) return fail('video_unknown')
  const [row] = await sql<(VideoViewRow & Pick<VideoRow, 'provider' | 'upstream_id' | 'seconds'>)[]>`
    SELECT ${sql([...VIEW_COLUMNS, 'provider', 'upstream_id', 'seconds'])}
    FROM video_jobs WHERE id = ${id} AND workspace_id = ${workspaceId}`
  if (row === undefined) return fail('video_unknown')
  await views.put(viewOf(row))
  if (row.state !== 'completed' || row.upstream_id === null) return fail('video_unfinished')
  const { provider, upstream_id: upstreamId, own_secret: ownSecret, seconds, cost_nano: costNano } = row
  return ok({ provider, upstreamId, ownSecret, seconds, costNano: Number(costNano) })
}
