import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import { VideoAnswer, videoAnswer, VideoParams } from '../../../schemas/videos/videos.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { EXAMPLE_JOB, VIDEO_KEYS } from './video-access.ts'

/** Reads the progress of a job; reading a failed job is a success too. Source: B2.1, C18, C27. */
export const getVideo = defineOperation({
  id: 'video.get',
  method: 'get',
  path: '/videos/{job_id}',
  tag: 'videos',
  summary: 'Poll a video generation job',
  access: VIDEO_KEYS,
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  tellsAccount: true,
  input: { params: VideoParams },
  success: { status: 200, body: VideoAnswer },
  statuses: [403, 404, 500],
  failures: ['video_unknown', 'store_unavailable'],
  example: { params: { job_id: EXAMPLE_JOB } },
  async run(call, ports) {
    const video = await ports.videos.get(ownWorkspaceOf(call.key), call.params.job_id)
    return video.ok ? ok({ kind: 'json', value: videoAnswer(video.value, ports.publicOrigin) }) : video
  },
})
