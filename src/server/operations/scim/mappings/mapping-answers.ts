import type { FailureName } from '../../../../schemas/failures.ts'
import type {
  DirectoryGroupShape,
  MappingShape,
  SyncJobShape,
} from '../../../../schemas/scim/group-mappings.ts'
import type { DirectoryActor, DirectoryGroup, GroupMapping, SyncJob } from '../../../ports/scim/directory.ts'
import type { PageInput } from '../../../ports/workspaces/workspaces.ts'
import { actorOf, type Call } from '../../define.ts'
import { SCIM_PAGE_DEFAULT } from '../../../../schemas/scim/scim-limits.ts'

/** Statuses of the operations that read a mapping. B2.5, B1.5, B1.6. */
export const READ_STATUSES = [404, 500] as const
/** Statuses of the operations that change a mapping. B2.5, B1.5, B1.6. */
export const CHANGE_STATUSES = [400, 404, 500] as const
/** Failures of the operations that name a mapping. */
export const MAPPING_FAILURES = [
  'mapping_unknown',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const EXAMPLE_MAPPING = '01985e3f-6c1e-7d53-9a56-3f1f6f0f2c11'

export function directoryActorOf(call: Pick<Call, 'key' | 'requestId' | 'operationId'>): DirectoryActor {
  return { ...actorOf(call), organizationId: call.key.organizationId }
}

export function pageOf({ limit = SCIM_PAGE_DEFAULT, offset = 0 }: Partial<PageInput>): PageInput {
  return { limit, offset }
}

export function mappingAnswer(mapping: GroupMapping): MappingShape {
  return {
    id: mapping.id,
    scim_group_id: mapping.groupId,
    workspace_id: mapping.workspaceId,
    organization_id: mapping.organizationId,
    role: mapping.role,
    created_at: mapping.createdAt.toISOString(),
    updated_at: mapping.updatedAt.toISOString(),
  }
}

export function groupAnswer(group: DirectoryGroup): DirectoryGroupShape {
  return {
    id: group.id,
    display_name: group.displayName,
    external_id: group.externalId,
    organization_id: group.organizationId,
    created_at: group.createdAt.toISOString(),
    updated_at: group.updatedAt.toISOString(),
  }
}

export function syncJobAnswer(job: SyncJob): SyncJobShape {
  return {
    id: job.id,
    status: job.status,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    finished_at: job.finishedAt?.toISOString() ?? null,
    synced_groups: job.syncedGroups,
    deleted_groups: job.deletedGroups,
    error_message: job.errorMessage,
  }
}
