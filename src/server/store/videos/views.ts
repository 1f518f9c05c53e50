import { videoStatusOf, type VideoState } from '../../../schemas/videos/video-jobs.ts'
import type { VideoView } from '../../ports/videos/videos.ts'

/** Columns of `video_jobs` that make a view. */
export interface VideoViewRow {
  readonly id: string
  readonly workspace_id: string
  readonly own_secret: string | null
  readonly state: VideoState
  readonly generation_id: string | null
  readonly error: string | null
  readonly outputs: number
  readonly cost_nano: string
  readonly is_unpriced: boolean
}

/** Names of the columns, for a SELECT or RETURNING of one table. */
export const VIEW_COLUMNS = [
  'id',
  'workspace_id',
  'own_secret',
  'state',
  'generation_id',
  'error',
  'outputs',
  'cost_nano',
  'is_unpriced',
] as const

export function viewOf(row: VideoViewRow): VideoView {
  const status = videoStatusOf(row.state)
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    status,
    generationId: row.generation_id,
    error: row.error,
    outputs: row.outputs,
    usage:
      status === 'completed'
        ? { costNano: row.is_unpriced ? null : Number(row.cost_nano), isByok: row.own_secret !== null }
        : null,
  }
}

/** The view of a job at its acceptance: the first answer, whatever happened to the job since. */
export function acceptedView(id: string, workspaceId: string): VideoView {
  return { id, workspaceId, status: 'pending', generationId: null, error: null, outputs: 0, usage: null }
}
