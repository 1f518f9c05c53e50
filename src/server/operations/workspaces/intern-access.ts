import type { FailureName } from '../../../schemas/failures.ts'
import type { InternAnswer } from '../../../schemas/workspaces/interns.ts'
import type { Intern } from '../../ports/workspaces/interns.ts'

/** Statuses of every operation of interns. B2.4. */
export const INTERN_STATUSES_LISTED = [400, 403, 404, 408, 429, 500, 502, 503, 504] as const
/** Whether interns are enabled is a setting of the intern's workspace, not of the management key's workspace: the store checks it. */
export const INTERN_FAILURES = [
  'programme_closed',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const EXAMPLE_INTERN = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'

export function internAnswer(intern: Intern): InternAnswer {
  return {
    id: intern.id,
    name: intern.name,
    status: intern.status,
    workspace_id: intern.workspaceId,
    vault_id: intern.vaultId,
    attached_vault_id: intern.attachedVaultId,
    description: intern.description,
    hostname: null,
    instructions: intern.instructions,
    model: null,
    last_failure_message: null,
    progress: null,
    created_at: intern.createdAt.toISOString(),
    updated_at: intern.updatedAt.toISOString(),
  }
}

/** Why an intern is neither started nor stopped. B2.4. */
export const NOT_RUN = 'Sluice keeps records of interns but does not run them.'
