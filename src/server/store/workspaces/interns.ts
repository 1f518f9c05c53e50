import { createHash } from 'node:crypto'
import type { Caps } from '../../../schemas/operator/caps.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { InternStatus } from '../../../schemas/workspaces/interns.ts'
import type {
  Intern,
  InternChanges,
  InternPage,
  InternPageInput,
  Interns,
  NewIntern,
} from '../../ports/workspaces/interns.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import { bump } from '../base/epoch.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { endedByBytes } from '../base/page-by-bytes.ts'
import { reach } from '../base/translate.ts'
import { insertVault } from '../vault/vaults.ts'
import { findWorkspace, holdWorkspace } from '../base/find-workspace.ts'

/** @param publish informs the fronts at once about a removal; without it their polls inform them */
export function openInterns(store: Store, publish: Hints['publish']): Interns {
  return {
    create: (input, by) =>
      reach(() => store.sql.begin((tx) => create(tx, { ...input, caps: store.options.caps }, by))),
    list: (input) => reach(() => list(store.sql, input)),
    get: (organizationId, id) =>
      reach(async () => {
        const found = await find(store.sql, organizationId, id)
        return found.ok ? ok(found.value.intern) : found
      }),
    update: (organizationId, id, changes, by) =>
      reach(() => store.sql.begin((tx) => update(tx, { organizationId, id, changes, by }))),
    async remove(organizationId, id, by) {
      const removed = await reach(() => store.sql.begin((tx) => remove(tx, { organizationId, id, by })))
      if (!removed.ok) return removed
      await Promise.all(removed.value.invalidations.map(publish))
      return ok(removed.value.intern)
    },
  }
}

interface Removed {
  readonly intern: Intern
  /** Invalidations of the intern's keys; fronts cache nothing of its vault. */
  readonly invalidations: readonly Invalidation[]
}

async function create(
  tx: Transaction,
  { caps, ...input }: NewIntern & { readonly caps: Caps | undefined },
  by: ChangedBy,
): Promise<Outcome<Intern>> {
  const place = await openWorkspace(tx, input)
  if (!place.ok) return place
  const { id: workspaceId, organizationId } = place.value
  if (!(await holdWorkspace(tx, workspaceId))) return fail('workspace_unknown')
  if (!(await mayAttach(tx, input.attachedVaultId, workspaceId))) return fail('vault_unknown')
  const room = await holdRoom(tx, { organizationId, what: 'interns' }, caps)
  if (!room.ok) return room
  const vaultId = await insertVault(tx, { organizationId, workspaceId, kind: 'intern', name: null })
  const [row] = await tx<InternRow[]>`
    INSERT INTO interns ${tx({
      id: newId(),
      organization_id: organizationId,
      workspace_id: workspaceId,
      vault_id: vaultId,
      attached_vault_id: input.attachedVaultId,
      name: input.name,
      description: input.description,
      instructions: input.instructions,
      wants_provision: input.wantsProvision,
    })} RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  const intern = internOf(row)
  await appendAudit(tx, internEvent(by, 'interns.create', { before: null, after: intern }))
  return ok(intern)
}

async function list(sql: Queryable, input: InternPageInput): Promise<Outcome<InternPage>> {
  const place = await openWorkspace(sql, input)
  if (!place.ok) return place
  const rows = await sql<(InternRow & { readonly found: number })[]>`
    ${endedByBytes(sql, {
      rows: sql`
        SELECT * FROM interns WHERE workspace_id = ${place.value.id}
          AND ${input.statuses === null ? sql`true` : sql`status IN ${sql(input.statuses)}`}
          AND ${input.after === null ? sql`true` : sql`id > ${input.after}`}
        ORDER BY id LIMIT ${input.limit + 1}`,
      bytes: () => sql`(COALESCE(octet_length(description), 0) + COALESCE(octet_length(instructions), 0))`,
      order: () => sql`id`,
    })}`
  const interns = rows.slice(0, input.limit).map(internOf)
  return ok({ interns, hasMore: (rows[0]?.found ?? 0) > interns.length })
}

interface Change {
  readonly organizationId: string
  readonly id: string
  readonly by: ChangedBy
}

async function update(
  tx: Transaction,
  { organizationId, id, changes, by }: Change & { readonly changes: InternChanges },
): Promise<Outcome<Intern>> {
  const found = await find(tx, organizationId, id, 'locked')
  if (!found.ok) return found
  const before = found.value.intern
  const { name, description, instructions, attachedVaultId } = { ...before, ...changes }
  const isAttached = attachedVaultId !== before.attachedVaultId
  if (isAttached && !(await mayAttach(tx, attachedVaultId, before.workspaceId))) return fail('vault_unknown')
  const [row] = await tx<InternRow[]>`
    UPDATE interns SET ${tx({ name, description, instructions, attached_vault_id: attachedVaultId })}, updated_at = clock_timestamp()
    WHERE id = ${id} RETURNING *`
  if (row === undefined) throw new Error('a locked row no longer exists')
  const intern = internOf(row)
  await appendAudit(tx, internEvent(by, 'interns.update', { before, after: intern }))
  return ok(intern)
}

async function remove(tx: Transaction, { organizationId, id, by }: Change): Promise<Outcome<Removed>> {
  const found = await find(tx, organizationId, id, 'locked')
  if (!found.ok) return found
  const { intern, mayWriteVault } = found.value
  // The intern's secrets would be removed with it.
  if (!mayWriteVault) return fail('vault_writes_disabled')
  const keys = await tx<{ hash: string; name: string }[]>`
    UPDATE api_keys SET revoked_at = now() WHERE intern_id = ${id} AND revoked_at IS NULL RETURNING hash, name`
  const secrets = await tx<
    { name: string }[]
  >`SELECT name FROM secrets WHERE vault_id = ${intern.vaultId} ORDER BY name`
  await tx`DELETE FROM interns WHERE id = ${id}`
  await tx`DELETE FROM vaults WHERE id = ${intern.vaultId}`
  const removal = { before: intern, after: null, secrets: secrets.map(({ name }) => name) }
  await appendAudit(
    tx,
    ...keys.map((key) => keyEndedEvent(by, intern, key)),
    internEvent(by, 'interns.delete', removal),
  )
  const invalidations: Invalidation[] = []
  for (const { hash } of keys) invalidations.push(await bump(tx, 'key', hash))
  return ok({ intern, invalidations })
}

/** The named workspace, if interns are allowed in it. Failures: workspace_unknown, programme_closed. */
async function openWorkspace(
  sql: Queryable,
  { workspace, organizationId }: Pick<NewIntern, 'workspace' | 'organizationId'>,
): Promise<Outcome<Workspace>> {
  const found = await findWorkspace(sql, workspace, organizationId)
  return found.ok && !found.value.isInProgramme ? fail('programme_closed') : found
}

/** Locks the vault until the transaction ends. @returns false when the workspace has no such vault */
async function mayAttach(tx: Transaction, vaultId: string | null, workspaceId: string): Promise<boolean> {
  if (vaultId === null) return true
  if (!isId(vaultId)) return false
  const [vault] = await tx`
    SELECT 1 FROM vaults WHERE id = ${vaultId} AND workspace_id = ${workspaceId} AND kind = 'attachable' FOR KEY SHARE`
  return vault !== undefined
}

interface Found {
  readonly intern: Intern
  readonly mayWriteVault: boolean
}

/** Failures: intern_unknown, programme_closed. */
async function find(
  sql: Queryable,
  organizationId: string,
  id: string,
  lock?: 'locked',
): Promise<Outcome<Found>> {
  if (!isId(id)) return fail('intern_unknown')
  const [row] = await sql<(InternRow & { is_in_programme: boolean; may_write_vault: boolean })[]>`
    SELECT i.*, w.is_in_programme, w.may_write_vault FROM interns i JOIN workspaces w ON w.id = i.workspace_id AND w.deleted_at IS NULL
    WHERE i.id = ${id} AND i.organization_id = ${organizationId} ${lock === undefined ? sql`` : sql`FOR UPDATE OF i`}`
  if (row === undefined) return fail('intern_unknown')
  return row.is_in_programme
    ? ok({ intern: internOf(row), mayWriteVault: row.may_write_vault })
    : fail('programme_closed')
}

interface InternRow {
  readonly id: string
  readonly organization_id: string
  readonly workspace_id: string
  readonly vault_id: string
  readonly attached_vault_id: string | null
  readonly name: string
  readonly status: InternStatus
  readonly description: string | null
  readonly instructions: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

function internOf(row: InternRow): Intern {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    vaultId: row.vault_id,
    attachedVaultId: row.attached_vault_id,
    name: row.name,
    status: row.status,
    description: row.description,
    instructions: row.instructions,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

interface AuditedChange {
  readonly before: Intern | null
  readonly after: Intern | null
  /** Names of the secrets that were removed with the intern. */
  readonly secrets?: readonly string[]
}

/** The audit event of a change of an intern. Long texts appear as digests, since rows of the log are kept for long. */
function internEvent(
  by: ChangedBy,
  operation: string,
  { before, after, secrets }: AuditedChange,
): AuditEvent {
  const intern = after ?? before
  if (intern === null) throw new Error('audit event without an intern')
  return {
    ...by,
    organizationId: intern.organizationId,
    workspaceId: intern.workspaceId,
    operation,
    outcome: 'changed',
    objectKind: 'intern',
    objectId: intern.id,
    before: before === null ? null : { ...toAudit(before), ...(secrets !== undefined && { secrets }) },
    after: after === null ? null : toAudit(after),
  }
}

/** The audit event of a key that ended with its intern. */
function keyEndedEvent(
  by: ChangedBy,
  intern: Intern,
  { hash, name }: { readonly hash: string; readonly name: string },
): AuditEvent {
  return {
    ...internEvent(by, 'interns.delete', { before: intern, after: null }),
    objectKind: 'key',
    objectId: hash,
    before: { kind: 'intern', name, intern_id: intern.id },
    after: null,
  }
}

function toAudit({ name, status, vaultId, attachedVaultId, description, instructions }: Intern): object {
  return {
    name,
    status,
    vault_id: vaultId,
    attached_vault_id: attachedVaultId,
    description_sha256: digestOf(description),
    instructions_sha256: digestOf(instructions),
  }
}

function digestOf(text: string | null): string | null {
  return text === null ? null : createHash('sha256').update(text).digest('hex')
}

interface InternOwner {
  readonly internId: string
  readonly organizationId: string
  readonly workspaceId: string
}

/**
 * Locks an intern until the transaction ends: its removal waits, and then ends the keys that were made
 * meanwhile.
 * @param organizationId null = any organization @returns null for an intern that is unknown or of another
 * organization
 */
export async function holdIntern(
  tx: Transaction,
  { internId, organizationId }: { readonly internId: string; readonly organizationId: string | null },
): Promise<InternOwner | null> {
  if (!isId(internId)) return null
  const [intern] = await tx<InternOwner[]>`
    SELECT id AS "internId", organization_id AS "organizationId", workspace_id AS "workspaceId" FROM interns
    WHERE id = ${internId} AND ${organizationId === null ? tx`true` : tx`organization_id = ${organizationId}`} FOR SHARE`
  return intern ?? null
}
