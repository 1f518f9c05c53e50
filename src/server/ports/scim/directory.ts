import type { Outcome } from '../../../schemas/failures.ts'
import type { MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type { ChangedBy } from '../vault/vault.ts'
import type { Page, PageInput } from '../workspaces/workspaces.ts'

/** Without its members. */
export interface DirectoryGroup {
  readonly id: string
  readonly organizationId: string
  /** Unique in the organization, compared case-insensitively. */
  readonly displayName: string
  /** Id of the resource at the identity provider. */
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

/** Numbers of members, by the effect that creating the mapping now would have on them. */
export interface MappingPreview {
  readonly joining: number
  readonly promoted: number
  readonly unchanged: number
  readonly inactive: number
  /** True when the group has more members than were counted. */
  readonly isCut: boolean
}

export interface SyncJob {
  readonly id: string
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed'
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  /** Groups whose grants were recomputed. */
  readonly syncedGroups: number | null
  /** Groups that were deleted since the last sync, and whose last grants were removed. */
  readonly deletedGroups: number | null
  /** Sluice's own message, without details of the store. */
  readonly errorMessage: string | null
}

export interface DirectoryActor extends ChangedBy {
  readonly operation: string
  readonly organizationId: string
}

/**
 * Changes of an organization are made under a single lock (`lockDirectory`), taken after the workspace's lock
 * when both are needed. Failures of all: store_unavailable; of methods that name a mapping: mapping_unknown,
 * also for a foreign one.
 */
export interface GroupMappings {
  /** Oldest first. */
  list(organizationId: string, page: PageInput): Promise<Outcome<Page<GroupMapping>>>
  get(organizationId: string, id: string): Promise<Outcome<GroupMapping>>
  /**
   * For an existing pair with the same role it returns the mapping and writes no audit event. Failures:
   * scim_group_unknown, workspace_unknown, mapping_role_differs.
   */
  create(
    input: Pick<GroupMapping, 'groupId' | 'workspaceId' | 'role'>,
    by: DirectoryActor,
  ): Promise<Outcome<GroupMapping>>
  /** Also changes the role of every grant of the mapping. Setting the same role again changes nothing and is not audited. */
  setRole(id: string, role: MemberRole, by: DirectoryActor): Promise<Outcome<GroupMapping>>
  /** @param keepMembers true: its grants become manual ones, and the stronger role applies; false: they are removed */
  remove(id: string, keepMembers: boolean, by: DirectoryActor): Promise<Outcome<null>>
  /** Changes nothing. Failures: scim_group_unknown, workspace_unknown. */
  preview(
    organizationId: string,
    input: Pick<GroupMapping, 'groupId' | 'workspaceId' | 'role'>,
  ): Promise<Outcome<MappingPreview>>
  /** Existing groups, by display name. */
  groups(organizationId: string, page: PageInput): Promise<Outcome<Page<DirectoryGroup>>>
  /** A runner recomputes all grants from the stored groups. While a job waits, that job is returned. */
  startSync(by: DirectoryActor): Promise<Outcome<SyncJob>>
  /** Failure: sync_job_unknown. */
  syncJob(organizationId: string, id: string): Promise<Outcome<SyncJob>>
}

/** A sync that this process holds until `attempt` changes. */
export interface SyncClaim {
  readonly id: string
  readonly organizationId: string
  readonly attempt: number
}

/** The progress of a process within one group. A process that takes over a sync starts this group again from the beginning. */
export interface SyncPlace {
  readonly mappingId: string
  readonly afterUserId: string
}

/** The result of one step: more work from that place; finished; or another process has the sync. */
export type SyncStep =
  | { readonly kind: 'on'; readonly place: SyncPlace | null }
  | { readonly kind: 'done' }
  | { readonly kind: 'lost' }

/** Each step is one short transaction, so that writers are not blocked. */
export interface SyncWork {
  /** The sync that has been waiting longest, or whose runner died; null without one. */
  claimNext(leaseMs: number): Promise<Outcome<SyncClaim | null>>
  /** Also renews the lease. @param place that the previous step returned */
  step(claim: SyncClaim, place: SyncPlace | null, leaseMs: number): Promise<Outcome<SyncStep>>
  /** Marks the sync as failed, unless another process has it. @param message for the caller that started it */
  fail(claim: SyncClaim, message: string): Promise<Outcome<null>>
  /** Releases the sync; it is due immediately. */
  release(claim: SyncClaim): Promise<Outcome<null>>
  /** Removes syncs that ended long ago. @returns number of rows; rejects when the store cannot be reached */
  prune(): Promise<number>
}
