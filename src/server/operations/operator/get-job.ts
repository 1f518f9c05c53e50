import { AdminJobAnswer, AdminJobParams } from '../../../schemas/operator/admin.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_JOB, jobDetailsWire } from './admin-answers.ts'

/** Reads all recorded steps of a video job. Source: an extension of Sluice; C4. */
export const getAdminJob = defineOperation({
  id: 'admin.get_job',
  method: 'get',
  path: '/admin/jobs/{job_id}',
  tag: 'admin',
  summary: 'Get the details of a video job',
  description:
    "The job's steps, provider id, runner, clips and webhook deliveries; never its prompt, a body or a callback URL.",
  input: { params: AdminJobParams },
  success: { status: 200, body: AdminJobAnswer },
  statuses: [403, 404, 500],
  failures: ['video_unknown', 'store_unavailable'],
  example: { params: { job_id: EXAMPLE_JOB } },
  async run({ key, params }, { admin }) {
    const found = await admin.job(key.organizationId, params.job_id)
    return found.ok ? ok({ kind: 'json', value: { data: jobDetailsWire(found.value) } }) : found
  },
})
