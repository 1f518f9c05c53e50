import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { Hints } from '../../ports/keys/keys.ts'
import type {
  Page,
  PageInput,
  Workspace,
  WorkspaceRef,
  Workspaces,
} from '../../ports/workspaces/workspaces.ts'
import { addMembers, removeMembers } from '../workspaces/bulk-members.ts'
import { listMembers } from '../workspaces/members.ts'
import { listUsers } from '../workspaces/organization-members.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { removeWorkspace } from './workspace-removal.ts'
import { workspaceOf, workspaceRows, type WorkspaceRow } from '../base/workspace-rows.ts'
import { createWorkspace, updateWorkspace } from '../workspaces/workspaces.ts'
import { findWorkspace } from '../base/find-workspace.ts'

/**
 * Workspaces of organizations. @param publish informs the fronts at once; without it their polls inform them
 */
export function openWorkspaces(store: Store, publish: Hints['publish']): Workspaces {
  return {
    list: (organizationId, page) => reach(async () => ok(await pageOf(store.sql, organizationId, page))),
    create: (input, by) => createWorkspace(store, input, by),
    get: (ref) => reach(() => find(store.sql, ref)),
    async update(ref, changes, by) {
      const updated = await updateWorkspace(store, ref, changes, by)
      if (!updated.ok) return updated
      await publish(updated.value.change)
      return ok(updated.value.workspace)
    },
    async remove(ref, mayBeDefault, by) {
      const removed = await reach(() =>
        store.sql.begin((tx) => removeWorkspace(tx, { ref, mayBeDefault, by })),
      )
      if (!removed.ok) return removed
      await Promise.all(removed.value.map(publish))
      return ok(null)
    },
    members: (ref, page) =>
      reach(async () => {
        const found = await find(store.sql, ref)
        return found.ok ? ok(await listMembers(store.sql, found.value.id, page)) : found
      }),
    users: (organizationId, page) => reach(async () => ok(await listUsers(store.sql, organizationId, page))),
    addMembers: (ref, input, by) => addMembers(store, ref, input, by),
    removeMembers: (ref, userIds, by) => removeMembers(store, ref, userIds, by),
  }
}

function find(sql: Queryable, { organizationId, reference }: WorkspaceRef): Promise<Outcome<Workspace>> {
  return findWorkspace(sql, reference, organizationId)
}

async function pageOf(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<Page<Workspace>> {
  const [rows, [counted]] = await Promise.all([
    sql<
      WorkspaceRow[]
    >`${workspaceRows(sql)} AND w.organization_id = ${organizationId} ORDER BY w.id LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`
      SELECT count(*)::int AS count FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL`,
  ])
  return { rows: rows.map(workspaceOf), totalCount: counted?.count ?? 0 }
}
