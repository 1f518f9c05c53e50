import type { Outcome } from '../../../schemas/failures.ts'
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
  /** Of interns and their vaults; outside of it those are 404. C5. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly defaultCallbackUrl: string | null
  /** Null = that of the installation. */
  readonly storageQuotaBytes: number | null
  /** Calls by its own credentials count against its budgets. */
  readonly countsByok: boolean
  /** What was ever set of them. */
  readonly settings: KeptSettings
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date | null
}

/** What is left out stays. */
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
  >
>

export interface NewWorkspace extends WorkspaceChanges {
  readonly organizationId: string
  readonly name: string
  readonly slug: string
  readonly isDefault?: boolean
}

/** Who changes a workspace, and by which operation or verb. */
export interface WorkspaceActor extends ChangedBy {
  readonly operation: string
}

/** A workspace as its organization's keys name it. */
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
  /** Of all pages. */
  readonly totalCount: number
}

/** Why somebody is a member: given by hand, or by a group of a SCIM mapping. */
export interface MemberGrant {
  readonly source: 'manual' | 'mapping'
  /** Null of one that was given by hand. */
  readonly mappingId: string | null
  readonly role: MemberRole
  readonly createdAt: Date
}

export interface Member {
  readonly userId: string
  readonly userName: string
  readonly displayName: string | null
  readonly email: string | null
  /** The strongest of the grants. */
  readonly role: MemberRole
  /** Oldest first; at least one. */
  readonly grants: readonly MemberGrant[]
}

/**
 * Workspaces as the management keys of their organization see them; every change is audited, and fronts obey
 * it. Failures of all: store_unavailable; of those that name one: workspace_unknown, which another
 * organization's is too.
 */
export interface Workspaces {
  /** Oldest first. */
  list(organizationId: string, page: PageInput): Promise<Outcome<Page<Workspace>>>
  /** Failure: slug_taken. */
  create(input: NewWorkspace, by: WorkspaceActor): Promise<Outcome<Workspace>>
  get(ref: WorkspaceRef): Promise<Outcome<Workspace>>
  /** Failure: slug_taken. */
  update(ref: WorkspaceRef, changes: WorkspaceChanges, by: WorkspaceActor): Promise<Outcome<Workspace>>
  /**
   * Ends a workspace with all that belongs to it; ledger and audit log keep what they know. The default one
   * goes only when `mayBeDefault`, and the oldest other becomes the default. Failure: default_workspace_kept.
   */
  remove(ref: WorkspaceRef, mayBeDefault: boolean, by: WorkspaceActor): Promise<Outcome<null>>
  /** By user name. */
  members(ref: WorkspaceRef, page: PageInput): Promise<Outcome<Page<Member>>>
}
