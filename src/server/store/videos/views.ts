import { videoStatusOf, type VideoState } from '../../../schemas/videos/video-jobs.ts'
import type { VideoView } from '../../ports/videos/videos.ts'

/** Columns of `video_jobs` that a view is made of. */
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

/** Their names, for a SELECT or RETURNING of one row's table. */
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

/** Of a job that was just accepted: what its first answer told, whatever became of it since. */
export function acceptedView(id: string, workspaceId: string): VideoView {
  return { id, workspaceId, status: 'pending', generationId: null, error: null, outputs: 0, usage: null }
}
