import type { Outcome } from '../../../schemas/failures.ts'
import type { MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type { ChangedBy } from '../vault/vault.ts'
import type { Page, PageInput } from '../workspaces/workspaces.ts'

/** A group of the identity provider's, without its members. */
export interface DirectoryGroup {
  readonly id: string
  readonly organizationId: string
  /** Unique in the organization, whatever its case. */
  readonly displayName: string
  /** The identity provider's own. */
  readonly externalId: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Members of the group have this role in the workspace. At most one per pair. */
export interface GroupMapping {
  readonly id: string
  readonly organizationId: string
  readonly groupId: string
  readonly workspaceId: string
  readonly role: MemberRole
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface SyncJob {
  readonly id: string
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed'
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  /** Groups whose grants were computed again. */
  readonly syncedGroups: number | null
  /** Groups that were deleted since the last one, of which nothing is left now. */
  readonly deletedGroups: number | null
  /** Ours, without details of the store. */
  readonly errorMessage: string | null
}

/** Who changes the directory, and by which operation. */
export interface DirectoryActor extends ChangedBy {
  readonly operation: string
  readonly organizationId: string
}

/**
 * Groups of the identity provider's, and what they grant. Whoever changes groups, members, mappings or grants
 * of an organization takes turns by one lock of it (`lockDirectory`), behind the workspace's where both are
 * needed. Failures of all: store_unavailable; of those that name a mapping: mapping_unknown, also of another
 * organization's.
 */
export interface GroupMappings {
  /** Oldest first. */
  list(organizationId: string, page: PageInput): Promise<Outcome<Page<GroupMapping>>>
  get(organizationId: string, id: string): Promise<Outcome<GroupMapping>>
  /**
   * The same pair and role again gives the mapping that is there, unaudited. Failures: scim_group_unknown,
   * workspace_unknown, mapping_role_differs.
   */
  create(
    input: Pick<GroupMapping, 'groupId' | 'workspaceId' | 'role'>,
    by: DirectoryActor,
  ): Promise<Outcome<GroupMapping>>
  /**
   * With it the role of every grant of the mapping. The same role again changes nothing, and is not audited.
   */
  setRole(id: string, role: MemberRole, by: DirectoryActor): Promise<Outcome<GroupMapping>>
  /**
   * @param keepMembers its grants become manual ones, the stronger role winning; else they go. §4.6, B1.6.
   */
  remove(id: string, keepMembers: boolean, by: DirectoryActor): Promise<Outcome<null>>
  /** Groups that are there, by display name. */
  groups(organizationId: string, page: PageInput): Promise<Outcome<Page<DirectoryGroup>>>
  /**
   * Computes all grants of the organization again from its stored groups, in a runner. While one waits it is
   * the answer.
   */
  startSync(by: DirectoryActor): Promise<Outcome<SyncJob>>
  /** Failure: sync_job_unknown. */
  syncJob(organizationId: string, id: string): Promise<Outcome<SyncJob>>
}
