import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import { isId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import { insertVault } from './vaults.ts'
import { holdWorkspace } from '../base/find-workspace.ts'

/** A vault that interns of its workspace may attach; its secrets rank after the intern's own. */
export interface AttachableVault {
  readonly id: string
  readonly organizationId: string
  readonly workspaceId: string
  /** Unique in the workspace. */
  readonly name: string
  readonly secrets: number
  readonly createdAt: Date
}

export type AttachableVaultInput = Pick<AttachableVault, 'organizationId' | 'workspaceId' | 'name'>

/** Failures: name_taken, workspace_unknown, quota_exceeded, store_unavailable. */
export function createAttachableVault(
  store: Store,
  input: AttachableVaultInput,
  by: ChangedBy,
): Promise<Outcome<AttachableVault>> {
  return reach(async () => {
    try {
      return await store.sql.begin(async (tx) => {
        if (!(await holdWorkspace(tx, input.workspaceId))) return fail('workspace_unknown')
        const room = await holdRoom(
          tx,
          { organizationId: input.organizationId, what: 'vaults' },
          store.options.caps,
        )
        if (!room.ok) return room
        const id = await insertVault(tx, { ...input, kind: 'attachable' })
        await appendAudit(
          tx,
          eventOf({ ...input, id }, by, {
            operation: 'cli.vault-create',
            before: null,
            after: { name: input.name },
          }),
        )
        return findAttachableVault(tx, id)
      })
    } catch (problem) {
      if (violatedUnique(problem) === 'vaults_name_key') return fail('name_taken')
      throw problem
    }
  })
}

/** Oldest first. @param organizationId null = all organizations. Failures: store_unavailable. */
export function listAttachableVaults(
  store: Store,
  organizationId: string | null,
): Promise<Outcome<readonly AttachableVault[]>> {
  return reach(async () => {
    return ok((await rowsOf(store.sql, { organizationId })).map(vaultOf))
  })
}

/** Failure: vault_unknown, also for a vault of another kind. */
export async function findAttachableVault(sql: Queryable, id: string): Promise<Outcome<AttachableVault>> {
  const [row] = isId(id) ? await rowsOf(sql, { id }) : []
  return row === undefined ? fail('vault_unknown') : ok(vaultOf(row))
}

/**
 * Removes a vault with every secret in it. Interns keep its id, so that they see that the vault is gone.
 * Fronts cache nothing of such a vault, so they get no invalidation. Failures: vault_unknown,
 * store_unavailable.
 */
export function deleteAttachableVault(store: Store, id: string, by: ChangedBy): Promise<Outcome<null>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      if (!isId(id)) return fail('vault_unknown')
      // A concurrent write into the vault waits for this lock, and then finds no vault.
      const [locked] = await tx`SELECT 1 FROM vaults WHERE id = ${id} AND kind = 'attachable' FOR UPDATE`
      const found = locked === undefined ? fail('vault_unknown') : await findAttachableVault(tx, id)
      if (!found.ok) return found
      const secrets = await tx<
        { name: string }[]
      >`SELECT name FROM secrets WHERE vault_id = ${id} ORDER BY name`
      await tx`DELETE FROM vaults WHERE id = ${id}`
      const before = { name: found.value.name, secrets: secrets.map(({ name }) => name) }
      await appendAudit(tx, eventOf(found.value, by, { operation: 'cli.vault-delete', before, after: null }))
      return ok(null)
    }),
  )
}

function eventOf(
  { id, organizationId, workspaceId }: Pick<AttachableVault, 'id' | 'organizationId' | 'workspaceId'>,
  by: ChangedBy,
  what: Pick<AuditEvent, 'operation' | 'before' | 'after'>,
): AuditEvent {
  return {
    ...by,
    ...what,
    organizationId,
    workspaceId,
    outcome: 'changed',
    objectKind: 'vault',
    objectId: id,
  }
}

interface VaultRow {
  readonly id: string
  readonly organization_id: string
  readonly workspace_id: string
  readonly name: string
  readonly secrets: string
  readonly created_at: Date
}

interface Where {
  readonly id?: string | null
  readonly organizationId?: string | null
}

function rowsOf(sql: Queryable, { id = null, organizationId = null }: Where): Promise<readonly VaultRow[]> {
  return sql<VaultRow[]>`
    SELECT v.*, (SELECT count(*) FROM secrets s WHERE s.vault_id = v.id) AS secrets
    FROM vaults v
    WHERE v.kind = 'attachable' AND ${id === null ? sql`true` : sql`v.id = ${id}`}
      AND ${organizationId === null ? sql`true` : sql`v.organization_id = ${organizationId}`}
    ORDER BY v.id`
}

function vaultOf(row: VaultRow): AttachableVault {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    name: row.name,
    secrets: Number(row.secrets),
    createdAt: row.created_at,
  }
}
