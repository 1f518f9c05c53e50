import { fail, ok } from '../../../schemas/failures.ts'
import { isVideoEnding } from '../../../schemas/videos/video-jobs.ts'
import type { VideoJobs, VideoViews } from '../../ports/videos/videos.ts'
import { isVideoId } from '../base/ids.ts'
import type { Sql, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { EndBatches } from './end-batches.ts'
import type { EndContext, EndInput } from './ends.ts'
import { unfinished } from './settling.ts'
import { VIEW_COLUMNS, viewOf, type VideoViewRow } from './views.ts'

export interface CancelDeps {
  readonly store: Store
  readonly views: Pick<VideoViews, 'put' | 'wake'>
  readonly context: EndContext
}

/** The ending of `VideoJobs.cancel`. It works in any open state and while a runner has the job; the runner then writes nothing more. */
export function openVideoCancel({ store, views, context }: CancelDeps): VideoJobs['cancel'] {
  const ends = new EndBatches(store, context)
  return (workspaceId, id) =>
    reach(async () => {
      if (!isVideoId(id)) return fail('video_unknown')
      const before = await look(store.sql, workspaceId, id)
      if (before === null) return fail('video_unknown')
      const ended = isVideoEnding(before.state) ? null : await ends.end(cancellation(id))
      if (ended === null) {
        // After this failure the caller must not see an open job: the view may be older than the row.
        const now = isVideoEnding(before.state) ? before : await look(store.sql, workspaceId, id)
        if (now !== null) await views.put(viewOf(now))
        return fail('video_ended')
      }
      const view = viewOf(ended)
      await views.put(view)
      views.wake({ kind: 'cancelled', id })
      if (ended.callback_url !== null) views.wake({ kind: 'webhooks' })
      return ok(view)
    })
}

async function look(sql: Sql, workspaceId: string, id: string): Promise<VideoViewRow | null> {
  const [row] = await sql<
    VideoViewRow[]
  >`SELECT ${sql(VIEW_COLUMNS)} FROM video_jobs WHERE id = ${id} AND workspace_id = ${workspaceId}`
  return row ?? null
}

export function cancellation(id: string): EndInput {
  return {
    id,
    attempt: null,
    polls: null,
    state: 'cancelled',
    error: 'The job was cancelled.',
    clips: [],
    settling: unfinished,
  }
}
