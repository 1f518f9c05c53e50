import { ok } from '../../../../schemas/failures.ts'
import { SyncJobAnswer } from '../../../../schemas/scim/group-mappings.ts'
import { defineOperation } from '../../define.ts'
import { directoryActorOf, READ_STATUSES, syncJobAnswer } from './mapping-answers.ts'

/** Starts the recomputation of all grants of the organization. Source: B2.5, decision C6. */
export const startSync = defineOperation({
  id: 'scim.start_sync',
  method: 'post',
  path: '/scim/sync-jobs',
  tag: 'group-mappings',
  summary: 'Recompute all grants',
  description:
    'Recomputes grants from the stored groups. While a sync job is queued, further calls return that sync job.',
  input: {},
  success: { status: 202, body: SyncJobAnswer, headers: { location: 'Path of the sync job.' } },
  statuses: READ_STATUSES,
  failures: ['store_unavailable'],
  example: {},
  async run(call, ports) {
    const started = await ports.groupMappings.startSync(directoryActorOf(call))
    if (!started.ok) return started
    const headers = { location: `/api/v1/scim/sync-jobs/${started.value.id}` }
    return ok({ kind: 'json', value: { data: syncJobAnswer(started.value) }, headers })
  },
})
