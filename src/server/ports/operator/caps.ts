import type { Capped } from '../../../schemas/operator/caps.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { WorkspaceActor } from '../workspaces/workspaces.ts'

interface CapState {
  readonly cap: number
  readonly used: number
  /** False: the cap is the installation's. */
  readonly isOwn: boolean
}

export interface CapsState {
  readonly organizationId: string
  readonly states: ReadonlyMap<Capped, CapState>
}

/** Null: the installation's cap again; caps that are left out stay. */
export type CapChanges = Readonly<Partial<Record<Capped, number | null>>>

/** The most that organizations may have. Failures of both: organization_unknown, store_unavailable. */
export interface OrganizationCaps {
  read(organizationId: string): Promise<Outcome<CapsState>>
  update(organizationId: string, changes: CapChanges, by: WorkspaceActor): Promise<Outcome<CapsState>>
}
