import type { VideoEnding } from '../../../schemas/videos/video-jobs.ts'
import type { EndedVideo } from '../../../schemas/webhooks/webhook-body.ts'

/** Columns of an ended job that its event tells of. A bigint of Postgres arrives as text. */
export interface EndedVideoRow {
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

/** An ended job, as its event tells of it. */
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
