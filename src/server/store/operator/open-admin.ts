import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { AdminRecords, OperatorSession } from '../../ports/operator/admin.ts'
import type { VideoViews } from '../../ports/videos/videos.ts'
import type { Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { listDeliveriesOf, replayDeadOf, replayDelivery } from './deliveries.ts'
import { noteClip, readJob, workspaceOfJob } from './job.ts'
import { listJobs } from './jobs.ts'
import { operatorOrganization } from './operator.ts'
import { readStorage } from './storage.ts'

export interface AdminOptions {
  readonly store: Store
  /** Notifies runners of due deliveries. */
  readonly wake: VideoViews['wake']
  /** UUID or name of the organization that operates the installation; null = the oldest. */
  readonly operatorOrganization: string | null
  readonly version: string
}

/** Records of their own organization that operators view and repair. */
export function openAdmin({
  store,
  wake,
  operatorOrganization: operator,
  version,
}: AdminOptions): AdminRecords {
  return {
    session: (organizationId) => reach(() => session(store, { organizationId, operator, version })),
    jobs: (input) => listJobs(store, input),
    job: (organizationId, id) => readJob(store, organizationId, id),
    workspaceOfJob: (organizationId, id) => workspaceOfJob(store, organizationId, id),
    noteClip: (read, by) => noteClip(store, read, by),
    deliveries: (input) => listDeliveriesOf(store, input),
    async replay(organizationId, id, by) {
      const replayed = await replayDelivery(store, organizationId, { id, by })
      if (replayed.ok) wake({ kind: 'webhooks' })
      return replayed
    },
    async replayDead(input, by) {
      const replayed = await replayDeadOf(store, input, by)
      if (replayed.ok && replayed.value.replayed > 0) wake({ kind: 'webhooks' })
      return replayed
    },
    storage: (input) => readStorage(store, operator, input),
  }
}

interface Asking {
  readonly organizationId: string
  readonly operator: string | null
  readonly version: string
}

async function session(
  { sql }: Store,
  { organizationId, operator, version }: Asking,
): Promise<Outcome<OperatorSession>> {
  const found = await operatorOrganization(sql, operator)
  if (found.ok && found.value.id === organizationId)
    return ok({ organization: { id: found.value.id, name: found.value.name }, version })
  // The log gives the reason to the operator, who set the reference; the caller gets no hint about other organizations.
  return found.ok
    ? fail('operator_only')
    : fail('operator_only', { detail: UNSET, cause: found.failure.name })
}

const UNSET = 'SLUICE_OPERATOR_ORGANIZATION does not name exactly one organization.'
