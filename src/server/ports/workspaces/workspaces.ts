import type { Outcome } from '../../../schemas/failures.ts'
import type { CallLimits } from '../../../schemas/limits/model-calls.ts'
import type { KeptSettings, MemberRole } from '../../../schemas/workspaces/workspaces.ts'
import type { ChangedBy } from '../vault/vault.ts'

export interface Workspace {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  /** Unique in the organization. */
  readonly slug: string
  readonly description: string | null
  readonly isDefault: boolean
  /** Membership in the programme of interns and their vaults, which are 404 elsewhere. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly defaultCallbackUrl: string | null
  /** Null = the quota of the installation. */
  readonly storageQuotaBytes: number | null
  /** Of the calls of all its keys. */
  readonly callLimits: CallLimits
  /** Calls by the workspace's own credentials count against its budgets. */
  readonly countsByok: boolean
  /** Settings that were ever set. */
  readonly settings: KeptSettings
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date | null
}

/** Fields that are left out stay. */
export type WorkspaceChanges = Partial<
  Pick<
    Workspace,
    | 'name'
    | 'slug'
    | 'description'
    | 'isInProgramme'
    | 'mayWriteVault'
    | 'defaultCallbackUrl'
    | 'storageQuotaBytes'
    | 'countsByok'
    | 'settings'
  > & {
    readonly callLimits: Partial<CallLimits>
  }
>

export interface NewWorkspace extends WorkspaceChanges {
  readonly organizationId: string
  readonly name: string
  readonly slug: string
  readonly isDefault?: boolean
}

export interface WorkspaceActor extends ChangedBy {
  readonly operation: string
}

export interface WorkspaceRef {
  readonly organizationId: string
  /** UUID or slug. */
  readonly reference: string
}

export interface PageInput {
  readonly limit: number
  readonly offset: number
}

export interface Page<T> {
  readonly rows: readonly T[]
  /** Number of rows on all pages. */
  readonly totalCount: number
}

export interface MemberGrant {
  readonly source: 'manual' | 'mapping'
  /** Null for a manual grant. */
  readonly mappingId: string | null
  readonly role: MemberRole
  readonly createdAt: Date
}

export interface Member {
  readonly workspaceId: string
  readonly userId: string
  readonly userName: string
  readonly displayName: string | null
  readonly email: string | null
  /** The strongest role of the grants. */
  readonly role: MemberRole
  /** Oldest first; at least one. */
  readonly grants: readonly MemberGrant[]
}

/** An active user. */
export interface OrganizationMember {
  readonly id: string
  readonly userName: string
  readonly displayName: string | null
  readonly email: string | null
  /** As the identity provider has them; null where it has none, as for users of the command line. */
  readonly givenName: string | null
  readonly familyName: string | null
}

export interface NewMembers {
  readonly userIds: readonly string[]
  readonly role: MemberRole
}

export interface AddedMembers {
  /** Grants that were made or changed. */
  readonly changedCount: number
  /** All users of the call, by user name. */
  readonly members: readonly Member[]
}

/** Every change is audited and reaches fronts. Failures of all: store_unavailable; of methods that name a workspace: workspace_unknown. */
export interface Workspaces {
  /** Oldest first. */
  list(organizationId: string, page: PageInput): Promise<Outcome<Page<Workspace>>>
  /** Failure: slug_taken. */
  create(input: NewWorkspace, by: WorkspaceActor): Promise<Outcome<Workspace>>
  get(ref: WorkspaceRef): Promise<Outcome<Workspace>>
  /** Failure: slug_taken. */
  update(ref: WorkspaceRef, changes: WorkspaceChanges, by: WorkspaceActor): Promise<Outcome<Workspace>>
  /** Ledger and audit log keep their rows. With `mayBeDefault` the oldest other workspace becomes the default. Failure: default_workspace_kept. */
  remove(ref: WorkspaceRef, mayBeDefault: boolean, by: WorkspaceActor): Promise<Outcome<null>>
  /** Sorted by user name. */
  members(ref: WorkspaceRef, page: PageInput): Promise<Outcome<Page<Member>>>
  /** Active users, by user name. */
  users(organizationId: string, page: PageInput): Promise<Outcome<Page<OrganizationMember>>>
  /** A manual grant, all or none. Failure: body_invalid, which names each wrong id by its place. */
  addMembers(ref: WorkspaceRef, input: NewMembers, by: WorkspaceActor): Promise<Outcome<AddedMembers>>
  /** All or none. Failure: body_invalid, also for members by a mapping and creators of live keys. @returns number of grants that ended */
  removeMembers(ref: WorkspaceRef, userIds: readonly string[], by: WorkspaceActor): Promise<Outcome<number>>
}
