import { ok } from '../../../schemas/failures.ts'
import { VideoAnswer, videoAnswer, VideoParams } from '../../../schemas/videos/videos.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { EXAMPLE_JOB } from './get-video.ts'

/** Cancels a job that has not ended. Source: C27, an extension of Sluice. */
export const cancelVideo = defineOperation({
  id: 'video.cancel',
  method: 'delete',
  path: '/videos/{job_id}',
  tag: 'videos',
  summary: 'Cancel a video generation job',
  description: 'Cancelling costs nothing. The provider is asked to stop if it supports cancelling.',
  tellsAccount: true,
  input: { params: VideoParams },
  success: { status: 200, body: VideoAnswer },
  statuses: [400, 403, 404, 500],
  failures: ['video_unknown', 'video_ended', 'store_unavailable'],
  example: { params: { job_id: EXAMPLE_JOB } },
  async run(call, ports) {
    const video = await ports.videos.cancel(ownWorkspaceOf(call.key), call.params.job_id)
    return video.ok ? ok({ kind: 'json', value: videoAnswer(video.value, ports.publicOrigin) }) : video
  },
})
