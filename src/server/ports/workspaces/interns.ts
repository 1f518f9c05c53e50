import type { Outcome } from '../../../schemas/failures.ts'
import type { InternStatus } from '../../../schemas/workspaces/interns.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** The record of an intern; Sluice runs nothing on its behalf. */
export interface Intern {
  readonly id: string
  readonly organizationId: string
  readonly workspaceId: string
  readonly name: string
  readonly status: InternStatus
  readonly vaultId: string
  /** An attachable vault of the workspace, which may no longer exist. */
  readonly attachedVaultId: string | null
  readonly description: string | null
  readonly instructions: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface NewIntern {
  readonly organizationId: string
  /** UUID or slug of a workspace of the organization. */
  readonly workspace: string
  readonly name: string
  readonly attachedVaultId: string | null
  readonly description: string | null
  readonly instructions: string | null
  /** Sluice stores the flag but does not use it. */
  readonly wantsProvision: boolean
}

/** Fields that are left out keep their values. */
export type InternChanges = Partial<Pick<Intern, 'name' | 'attachedVaultId' | 'description' | 'instructions'>>

export interface InternPageInput {
  readonly organizationId: string
  /** UUID or slug. */
  readonly workspace: string
  readonly statuses: readonly InternStatus[] | null
  readonly after: string | null
  readonly limit: number
}

export interface InternPage {
  /** Oldest first. */
  readonly interns: readonly Intern[]
  readonly hasMore: boolean
}

/**
 * Every change is audited. Failures of all: programme_closed (interns are not enabled in the workspace),
 * store_unavailable; of methods that name an intern: intern_unknown, also for a foreign one.
 */
export interface Interns {
  /** Creates the intern with a vault of its own. Failures: workspace_unknown, vault_unknown. */
  create(input: NewIntern, by: ChangedBy): Promise<Outcome<Intern>>
  /** Failure: workspace_unknown. */
  list(input: InternPageInput): Promise<Outcome<InternPage>>
  get(organizationId: string, id: string): Promise<Outcome<Intern>>
  /** Failure: vault_unknown. */
  update(organizationId: string, id: string, changes: InternChanges, by: ChangedBy): Promise<Outcome<Intern>>
  /** Also removes its vault with every secret, and its keys. Failure: vault_writes_disabled. */
  remove(organizationId: string, id: string, by: ChangedBy): Promise<Outcome<Intern>>
}
