import type { VideoEnding } from '../../../schemas/videos/video-jobs.ts'
import type { EndedVideo } from '../../../schemas/webhooks/webhook-body.ts'

/** The columns from which the event of an ended job is made. Postgres sends a bigint as text. */
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
