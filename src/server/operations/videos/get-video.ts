import { ok } from '../../../schemas/failures.ts'
import { VideoAnswer, videoAnswer, VideoParams } from '../../../schemas/videos/videos.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'

export const EXAMPLE_JOB = 'vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'

/** Reads the progress of a job; reading a failed job is a success too. Source: B2.1, C18, C27. */
export const getVideo = defineOperation({
  id: 'video.get',
  method: 'get',
  path: '/videos/{job_id}',
  tag: 'videos',
  summary: 'Poll a video generation job',
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
