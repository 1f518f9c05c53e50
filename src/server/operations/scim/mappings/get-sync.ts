import { ok } from '../../../../schemas/failures.ts'
import { SyncJobAnswer, SyncJobParams } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { EXAMPLE_MAPPING, READ_STATUSES, syncJobAnswer } from './mapping-answers.ts'

/** Reads the progress of a sync. Source: B2.5. */
export const getSync = defineOperation({
  id: 'scim.get_sync',
  method: 'get',
  path: '/scim/sync-jobs/{id}',
  tag: 'group-mappings',
  summary: 'Get a sync job',
  description: 'Available for 30 days after the sync ends.',
  input: { params: SyncJobParams },
  success: { status: 200, body: SyncJobAnswer },
  statuses: READ_STATUSES,
  failures: ['sync_job_unknown', 'store_unavailable'],
  example: { params: { id: EXAMPLE_MAPPING } },
  async run(call, ports) {
    const found = await ports.groupMappings.syncJob(call.key.organizationId, call.params.id)
    return found.ok ? ok({ kind: 'json', value: { data: syncJobAnswer(found.value) } }) : found
  },
})
