import { DOWNLOAD_DEADLINE_MS } from '../../../schemas/files/file-limits.ts'
import { VideoContent, VideoContentQuery, VideoParams } from '../../../schemas/videos/videos.ts'
import { openClip } from '../clip-content.ts'
import { defineOperation, ownWorkspaceOf } from '../define.ts'
import { EXAMPLE_JOB } from './get-video.ts'

/** Streams a clip of a completed job, completely or by range. Source: B2.1, C27. */
export const getVideoContent = defineOperation({
  id: 'video.get_content',
  method: 'get',
  path: '/videos/{job_id}/content',
  tag: 'videos',
  summary: 'Download a clip of a video generation job',
  deadlineMs: DOWNLOAD_DEADLINE_MS,
  tellsAccount: true,
  input: { params: VideoParams, query: VideoContentQuery },
  success: { status: 200, body: VideoContent, content: 'video/mp4' },
  statuses: [400, 403, 404, 409, 410, 500, 502],
  failures: [
    'video_unknown',
    'video_unfinished',
    'video_output_unknown',
    'video_expired',
    'content_missing',
    'content_damaged',
    'data_key_unavailable',
    'storage_unavailable',
    'busy',
    'store_unavailable',
  ],
  example: { params: { job_id: EXAMPLE_JOB }, query: { index: 0 } },
  async run({ key, params, query, signal }, { videos, transfers }) {
    const output = await videos.output(ownWorkspaceOf(key), params.job_id, query.index ?? 0)
    return output.ok ? openClip(output.value, transfers, signal) : output
  },
})
