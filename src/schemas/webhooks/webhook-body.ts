import type { VideoEnding } from '../videos/video-jobs.ts'
import { usdOfNano } from '../money/costs.ts'

export interface EndedVideo {
  readonly id: string
  readonly status: VideoEnding
  readonly endedAt: Date
  readonly generationId: string | null
  readonly model: string
  readonly error: string | null
  /** Clips of a completed job. */
  readonly outputs: number
  /** Whole nano-USD; null: the job has no price. */
  readonly costNano: number | null
  readonly isByok: boolean
}

/**
 * The body of a webhook, as JSON. A job that no provider accepted has no model, and a completed job has no
 * error.
 * @param origin at which callers reach the service, without a trailing slash.
 */
export function webhookBody(video: EndedVideo, origin: string): string {
  const isCompleted = video.status === 'completed'
  return JSON.stringify({
    type: `video.generation.${video.status}`,
    created_at: video.endedAt.toISOString(),
    data: {
      id: video.id,
      status: video.status,
      generation_id: video.generationId,
      model: video.generationId === null ? null : video.model,
      ...(isCompleted
        ? {
            unsigned_urls: clipUrls(origin, video.id, video.outputs),
            usage: {
              cost: video.costNano === null ? null : usdOfNano(video.costNano),
              is_byok: video.isByok,
            },
          }
        : { error: video.error ?? '' }),
    },
  })
}

/** URLs of a job's clips, which need an API key. */
export function clipUrls(origin: string, id: string, outputs: number): readonly string[] {
  return Array.from({ length: outputs }, (_, index) => `${origin}/api/v1/videos/${id}/content?index=${index}`)
}

/** The type of a test event, which is about no job. */
const TEST_EVENT_TYPE = 'webhook.test'

/** The body of a test event, as JSON, in the envelope of all events. */
export function testBody({
  id,
  workspaceId,
  at,
}: {
  /** UUID of the event. */
  readonly id: string
  readonly workspaceId: string
  readonly at: Date
}): string {
  return JSON.stringify({
    type: TEST_EVENT_TYPE,
    created_at: at.toISOString(),
    data: { id, workspace_id: workspaceId },
  })
}
