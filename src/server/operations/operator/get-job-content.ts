import { AdminJobParams } from '../../../schemas/operator/admin.ts'
import { DOWNLOAD_DEADLINE_MS } from '../../../schemas/files/file-limits.ts'
import { VideoContent, VideoContentQuery } from '../../../schemas/videos/videos.ts'
import { openClip } from '../clip-content.ts'
import { actorOf, defineOperation } from '../define.ts'
import { EXAMPLE_JOB } from './admin-answers.ts'

/** Streams a clip of a job to an operator, completely or by range, and records the access in the audit log. Source: our extension; C4. */
export const getAdminJobContent = defineOperation({
  id: 'admin.get_job_content',
  method: 'get',
  path: '/admin/jobs/{job_id}/content',
  tag: 'admin',
  summary: 'Download a clip of any video job',
  description: 'Each read is recorded in the audit log with the outcome `released`.',
  deadlineMs: DOWNLOAD_DEADLINE_MS,
  input: { params: AdminJobParams, query: VideoContentQuery },
  success: { status: 200, body: VideoContent, content: 'video/mp4' },
  statuses: [400, 403, 404, 410, 500],
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
  async run(call, { admin, videos, transfers }) {
    const {
      key: { organizationId },
      params: { job_id: jobId },
      query: { index = 0 },
    } = call
    const place = await admin.workspaceOfJob(organizationId, jobId)
    if (!place.ok) return place
    const workspaceId = place.value
    const output = await videos.output(workspaceId, jobId, index)
    if (!output.ok) return output
    const noted = await admin.noteClip({ organizationId, workspaceId, jobId, index }, actorOf(call))
    return noted.ok ? openClip(output.value, transfers, call.signal) : noted
  },
})
