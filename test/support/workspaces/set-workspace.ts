import type { Outcome } from '../../../src/schemas/failures.ts'
import type { WorkspaceChanges } from '../../../src/server/ports/workspaces/workspaces.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { updateWorkspace, type Changed } from '../../../src/server/store/workspaces/workspaces.ts'
import { CLI } from '../audit/audit.ts'

/** Changes a workspace as `workspaces set` does. */
export function setWorkspace(
  store: Store,
  reference: string,
  changes: WorkspaceChanges,
): Promise<Outcome<Changed>> {
  const by = { ...CLI, operation: 'cli.workspaces-set' }
  return updateWorkspace(store, { organizationId: null, reference }, changes, by)
}
