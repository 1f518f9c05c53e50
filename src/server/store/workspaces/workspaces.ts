import { workspaceAccount } from '../../../schemas/money/accounts.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import type {
  NewWorkspace,
  Workspace,
  WorkspaceActor,
  WorkspaceChanges,
} from '../../ports/workspaces/workspaces.ts'
import { bumpLimits } from '../money/account-limits.ts'
import { bearAccount, lockAccounts } from '../money/accounts.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import { bump } from '../base/epoch.ts'
import { newId } from '../base/ids.ts'
import { lockWorkspace, ofOrganization, type WorkspaceRef } from '../base/find-workspace.ts'
import { workspaceUnknown } from '../base/near-names.ts'
import type { Store, Transaction } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { workspaceEvent, workspaceOf, workspaceRows, type WorkspaceRow } from '../base/workspace-rows.ts'

/**
 * Makes a workspace with its account.
 * @param by null: without an audit event, as at a node's first start. Failures: slug_taken, quota_exceeded,
 * store_unavailable.
 */
export function createWorkspace(
  store: Store,
  input: NewWorkspace,
  by: WorkspaceActor | null = null,
): Promise<Outcome<Workspace>> {
  return renaming(() =>
    store.sql.begin(async (tx) => {
      const room = await holdRoom(
        tx,
        { organizationId: input.organizationId, what: 'workspaces' },
        store.options.caps,
      )
      if (!room.ok) return room
      const made = await insertWorkspace(tx, input, by)
      if (by !== null) await appendAudit(tx, workspaceEvent(by, { before: null, after: made }))
      return ok(made)
    }),
  )
}

export interface Changed {
  readonly workspace: Workspace
  readonly change: Invalidation
}

/** Failures: workspace_unknown, slug_taken, store_unavailable. */
export function updateWorkspace(
  store: Store,
  ref: WorkspaceRef,
  changes: WorkspaceChanges,
  by: WorkspaceActor,
): Promise<Outcome<Changed>> {
  return renaming(() =>
    store.sql.begin(async (tx) => {
      const before = await lockWorkspace(tx, ref)
      if (before === null) return workspaceUnknown(tx, ref.reference, ref.organizationId)
      const after = {
        ...before,
        ...changes,
        callLimits: { ...before.callLimits, ...changes.callLimits },
        settings: { ...before.settings, ...changes.settings },
      }
      const accountId = workspaceAccount(before.id)
      const isRecounted = after.countsByok !== before.countsByok
      if (isRecounted) await lockAccounts(tx, [accountId])
      if (isRecounted) await tx`UPDATE accounts SET counts_byok = ${after.countsByok} WHERE id = ${accountId}`
      const updatedAt = await write(tx, after)
      const workspace = { ...after, updatedAt }
      await appendAudit(tx, workspaceEvent(by, { before, after: workspace }))
      // A change of `countsByok` also marks the account: until every front has applied the change, some fronts count by
      // the old rule.
      const owner = { kind: 'workspace', id: before.id } as const
      const change = isRecounted
        ? await bumpLimits(tx, accountId, owner)
        : await bump(tx, owner.kind, owner.id)
      return ok({ workspace, change })
    }),
  )
}

/** Oldest first. @param organizationId null = all organizations. Failures: store_unavailable. */
export function listWorkspaces(
  store: Store,
  organizationId: string | null,
): Promise<Outcome<readonly Workspace[]>> {
  return reach(async () => {
    const { sql } = store
    const rows = await sql<
      WorkspaceRow[]
    >`${workspaceRows(sql)} AND ${ofOrganization(sql, organizationId)} ORDER BY w.id`
    return ok(rows.map(workspaceOf))
  })
}

export async function insertWorkspace(
  tx: Transaction,
  input: NewWorkspace,
  by: ChangedBy | null = null,
): Promise<Workspace> {
  const { organizationId, countsByok = false } = input
  const id = newId()
  const [row] = await tx<Omit<WorkspaceRow, 'counts_byok'>[]>`
    INSERT INTO workspaces (id, organization_id, name, slug, description, is_default, is_in_programme, may_write_vault,
      default_callback_url, storage_quota_bytes, call_limits, settings, created_by)
    VALUES (${id}, ${organizationId}, ${input.name}, ${input.slug}, ${input.description ?? null}, ${input.isDefault ?? false},
      ${input.isInProgramme ?? true}, ${input.mayWriteVault ?? true}, ${input.defaultCallbackUrl ?? null},
      ${input.storageQuotaBytes ?? null}, ${tx.json({ ...input.callLimits })}, ${tx.json(input.settings ?? {})}, ${by?.actor.id ?? null}) RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  await bearAccount(tx, { id: workspaceAccount(id), ownerKind: 'workspace', organizationId })
  if (countsByok) await tx`UPDATE accounts SET counts_byok = true WHERE id = ${workspaceAccount(id)}`
  return workspaceOf({ ...row, counts_byok: countsByok })
}

async function write(tx: Transaction, after: Workspace): Promise<Date> {
  const [row] = await tx<{ updated_at: Date }[]>`
    UPDATE workspaces SET name = ${after.name}, slug = ${after.slug}, description = ${after.description},
      is_in_programme = ${after.isInProgramme}, may_write_vault = ${after.mayWriteVault},
      default_callback_url = ${after.defaultCallbackUrl}, storage_quota_bytes = ${after.storageQuotaBytes},
      call_limits = ${tx.json(after.callLimits)}, settings = ${tx.json(after.settings)}, updated_at = clock_timestamp()
    WHERE id = ${after.id} RETURNING updated_at`
  if (row === undefined) throw new Error('a locked row no longer exists')
  return row.updated_at
}

function renaming<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  return reach(async () => {
    try {
      return await work()
    } catch (problem) {
      if (violatedUnique(problem) === 'workspaces_slug_key') return fail('slug_taken')
      throw problem
    }
  })
}
