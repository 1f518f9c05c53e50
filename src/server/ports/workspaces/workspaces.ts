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
  /** True when interns and their vaults are enabled; otherwise their routes answer 404. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly defaultCallbackUrl: string | null
  /** Null = the quota of the installation. */
  readonly storageQuotaBytes: number | null
  /** Limits for the calls of all its keys together. */
  readonly callLimits: CallLimits
  /** Calls with the workspace's own credentials count against its budgets. */
  readonly countsByok: boolean
  /** Settings that were set at least once. */
  readonly settings: KeptSettings
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date | null
}

/** Fields that are left out keep their values. */
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
  /** From the identity provider; null when it has none, for example for users created on the command line. */
  readonly givenName: string | null
  readonly familyName: string | null
}

export interface NewMembers {
  readonly userIds: readonly string[]
  readonly role: MemberRole
}

export interface AddedMembers {
  /** Number of grants that were created or changed. */
  readonly changedCount: number
  /** All users of the call, sorted by user name. */
  readonly members: readonly Member[]
}

/** Every change is audited and announced to all fronts. Failures of all: store_unavailable; of methods that name a workspace: workspace_unknown. */
export interface Workspaces {
  /** Oldest first. */
  list(organizationId: string, page: PageInput): Promise<Outcome<Page<Workspace>>>
  /** Failure: slug_taken. */
  create(input: NewWorkspace, by: WorkspaceActor): Promise<Outcome<Workspace>>
  get(ref: WorkspaceRef): Promise<Outcome<Workspace>>
  /** Failure: slug_taken. */
  update(ref: WorkspaceRef, changes: WorkspaceChanges, by: WorkspaceActor): Promise<Outcome<Workspace>>
  /**
   * Its rows in the ledger and the audit log are kept. With `mayBeDefault` the default workspace may be
   * removed: the oldest other one becomes the default. Failure: default_workspace_kept.
   */
  remove(ref: WorkspaceRef, mayBeDefault: boolean, by: WorkspaceActor): Promise<Outcome<null>>
  /** Sorted by user name. */
  members(ref: WorkspaceRef, page: PageInput): Promise<Outcome<Page<Member>>>
  /** Active users, sorted by user name. */
  users(organizationId: string, page: PageInput): Promise<Outcome<Page<OrganizationMember>>>
  /** Creates manual grants, all or none. Failure: body_invalid, with the position of each wrong id. */
  addMembers(ref: WorkspaceRef, input: NewMembers, by: WorkspaceActor): Promise<Outcome<AddedMembers>>
  /** All or none. Failure: body_invalid, also for members through a mapping and creators of active keys. @returns number of grants that ended */
  removeMembers(ref: WorkspaceRef, userIds: readonly string[], by: WorkspaceActor): Promise<Outcome<number>>
}
