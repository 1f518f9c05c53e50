import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { VaultForWriting, VaultKeyPurpose, WrappedVaultKey } from '../../ports/vault/secret-rows.ts'
import type { VaultScope } from '../../ports/vault/vault.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Transaction } from '../base/open.ts'

/** A vault of the workspace, of an intern, or one that interns of the workspace may attach. */
export type VaultKind = 'workspace' | 'intern' | 'attachable'

export interface NewVault {
  readonly organizationId: string
  readonly workspaceId: string
  readonly kind: VaultKind
  /** Name of an attachable vault, unique in its workspace; null for other kinds. */
  readonly name: string | null
}

/** Makes a vault without keys: they are made with its first secret, so that this needs no root key. @returns the vault's id */
export async function insertVault(
  tx: Transaction,
  { organizationId, workspaceId, kind, name }: NewVault,
): Promise<string> {
  const id = newId()
  await tx`
    INSERT INTO vaults (id, organization_id, workspace_id, kind, name)
    VALUES (${id}, ${organizationId}, ${workspaceId}, ${kind}, ${name})`
  return id
}

export interface InternSeen {
  readonly isInTransfer: boolean
  /** Null = no vault is attached. */
  readonly attachedVaultId: string | null
  /** A vault is attached, and it exists. */
  readonly hasAttached: boolean
}

/** @returns null for an intern that is unknown or of another workspace */
export async function internOf(
  sql: Queryable,
  { workspaceId, organizationId, internId }: VaultScope,
): Promise<InternSeen | null> {
  if (internId === null || !isId(internId)) return null
  const [row] = await sql<
    { is_in_transfer: boolean; attached_vault_id: string | null; has_attached: boolean }[]
  >`
    SELECT i.is_in_transfer, i.attached_vault_id, v.id IS NOT NULL AS has_attached FROM interns i
    LEFT JOIN vaults v ON v.id = i.attached_vault_id AND v.workspace_id = i.workspace_id AND v.kind = 'attachable'
    WHERE i.id = ${internId} AND i.workspace_id = ${workspaceId} AND i.organization_id = ${organizationId}`
  if (row === undefined) return null
  return {
    isInTransfer: row.is_in_transfer,
    attachedVaultId: row.attached_vault_id,
    hasAttached: row.has_attached,
  }
}

/** True when the intern's effective secrets are unknown: a vault was attached, and it is gone. */
export function isAttachedGone({ attachedVaultId, hasAttached }: InternSeen): boolean {
  return attachedVaultId !== null && !hasAttached
}

/**
 * The vaults of a scope by rank; the first one with the secret counts: intern (1), attached (2), workspace (3). An
 * intern that `internOf` does not find has none.
 */
export function effectiveVaults(sql: Queryable, { workspaceId, internId }: VaultScope) {
  const own = sql`SELECT id AS vault_id, workspace_id, 3 AS rank FROM vaults WHERE workspace_id = ${workspaceId} AND kind = 'workspace'`
  if (internId === null) return own
  return sql`
    SELECT vault_id, workspace_id, 1 AS rank FROM interns
    WHERE id = ${internId} AND workspace_id = ${workspaceId}
    UNION ALL
    SELECT v.id, v.workspace_id, 2 FROM interns i
    JOIN vaults v ON v.id = i.attached_vault_id AND v.workspace_id = i.workspace_id AND v.kind = 'attachable'
    WHERE i.id = ${internId} AND i.workspace_id = ${workspaceId}
    UNION ALL ${own}`
}

/** Only the vault of the scope itself, without the other vaults that an intern sees. */
export function ownVault(sql: Queryable, { workspaceId, internId, attachableId }: VaultScope) {
  if (attachableId !== undefined) {
    return sql`SELECT id FROM vaults WHERE id = ${attachableId} AND workspace_id = ${workspaceId} AND kind = 'attachable'`
  }
  return internId === null
    ? sql`SELECT id FROM vaults WHERE workspace_id = ${workspaceId} AND kind = 'workspace'`
    : sql`SELECT vault_id FROM interns WHERE id = ${internId} AND workspace_id = ${workspaceId}`
}

/** Failures: intern_unknown, vault_unknown (an attachable vault). The vault of a workspace is made with its first secret. */
export async function vaultForWriting(
  sql: Queryable,
  scope: VaultScope,
  versions: number,
): Promise<Outcome<VaultForWriting>> {
  const found = (await seenVault(sql, scope, versions)) ?? (await madeVault(sql, scope, versions))
  if (found === null) return fail(scope.attachableId === undefined ? 'intern_unknown' : 'vault_unknown')
  return ok(found)
}

async function madeVault(
  sql: Queryable,
  scope: VaultScope,
  versions: number,
): Promise<VaultForWriting | null> {
  const { organizationId, workspaceId, internId, attachableId } = scope
  if (internId !== null || attachableId !== undefined) return null
  await sql`
    INSERT INTO vaults (id, organization_id, workspace_id, kind)
    SELECT ${newId()}::uuid, organization_id, id, 'workspace' FROM workspaces
    WHERE id = ${workspaceId} AND organization_id = ${organizationId} AND deleted_at IS NULL FOR SHARE
    ON CONFLICT (workspace_id) WHERE kind = 'workspace' DO NOTHING`
  return seenVault(sql, scope, versions)
}

async function seenVault(
  sql: Queryable,
  scope: VaultScope,
  versions: number,
): Promise<VaultForWriting | null> {
  const { internId, attachableId } = scope
  if ((internId !== null && !isId(internId)) || (attachableId !== undefined && !isId(attachableId)))
    return null
  const [row] = await sql<VaultRow[]>`
    SELECT v.id, v.workspace_id, f.id AS f_id, f.root_key_id AS f_root, f.wrapped AS f_wrapped,
      s.id AS s_id, s.root_key_id AS s_root, s.wrapped AS s_wrapped,
      (SELECT string_agg(nextval('secret_versions')::text, ',') FROM generate_series(1, ${versions})) AS versions
    FROM vaults v
    LEFT JOIN vault_keys f ON f.vault_id = v.id AND f.purpose = 'fingerprint' AND f.is_current
    LEFT JOIN vault_keys s ON s.vault_id = v.id AND s.purpose = 'sealing' AND s.is_current
    WHERE v.id = (${ownVault(sql, scope)})`
  if (row === undefined) return null
  const key = (
    purpose: VaultKeyPurpose,
    id: string | null,
    rootKeyId: string | null,
    wrapped: Uint8Array | null,
  ): WrappedVaultKey | null =>
    id === null || rootKeyId === null || wrapped === null
      ? null
      : { id, vaultId: row.id, purpose, rootKeyId, wrapped }
  return {
    vaultId: row.id,
    workspaceId: row.workspace_id,
    fingerprintKey: key('fingerprint', row.f_id, row.f_root, row.f_wrapped),
    sealingKey: key('sealing', row.s_id, row.s_root, row.s_wrapped),
    versions: row.versions.split(','),
  }
}

interface VaultRow {
  readonly id: string
  readonly workspace_id: string
  readonly f_id: string | null
  readonly f_root: string | null
  readonly f_wrapped: Buffer | null
  readonly s_id: string | null
  readonly s_root: string | null
  readonly s_wrapped: Buffer | null
  readonly versions: string
}

/**
 * @returns the current keys: a process that lost a race waited for the winner, and gets its keys. Failure:
 * vault_unknown, for a vault that was removed meanwhile.
 */
export async function addVaultKeys(
  tx: Transaction,
  vaultId: string,
  keys: readonly WrappedVaultKey[],
): Promise<Outcome<readonly WrappedVaultKey[]>> {
  // Locks the vault until its keys are committed.
  const [vault] = await tx`SELECT 1 FROM vaults WHERE id = ${vaultId} FOR KEY SHARE`
  if (vault === undefined) return fail('vault_unknown')
  for (const { id, purpose, rootKeyId, wrapped } of keys) {
    await tx`
      INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped)
      VALUES (${id}, ${vaultId}, ${purpose}, ${rootKeyId}, ${Buffer.from(wrapped)})
      ON CONFLICT (vault_id, purpose) WHERE is_current DO NOTHING`
  }
  const rows = await tx<{ id: string; purpose: VaultKeyPurpose; root_key_id: string; wrapped: Buffer }[]>`
    SELECT id, purpose, root_key_id, wrapped FROM vault_keys WHERE vault_id = ${vaultId} AND is_current`
  return ok(
    rows.map(({ id, purpose, root_key_id: rootKeyId, wrapped }) => ({
      id,
      vaultId,
      purpose,
      rootKeyId,
      wrapped,
    })),
  )
}

/**
 * Locks a vault's row. Every write of secrets or keys takes this lock, so that no value is sealed with a key
 * that was replaced meanwhile. Locks are taken in this order: intern, vault, secrets, the head of the audit
 * log.
 * @returns id of the vault's current sealing key; null when there is no key, or no such vault
 */
export async function lockVault(tx: Transaction, vaultId: string): Promise<string | null> {
  const [, keys] = await Promise.all([
    tx`SELECT 1 FROM vaults WHERE id = ${vaultId} FOR NO KEY UPDATE`,
    tx<
      { id: string }[]
    >`SELECT id FROM vault_keys WHERE vault_id = ${vaultId} AND purpose = 'sealing' AND is_current`,
  ])
  return keys[0]?.id ?? null
}

/** Locks an intern, so that it is neither deleted nor moved before the commit. @returns null if it does not exist */
export async function lockIntern(
  tx: Transaction,
  scope: VaultScope,
): Promise<{ readonly isInTransfer: boolean } | null> {
  const { internId, workspaceId } = scope
  if (internId === null || !isId(internId)) return null
  const [row] = await tx<{ is_in_transfer: boolean }[]>`
    SELECT is_in_transfer FROM interns WHERE id = ${internId} AND workspace_id = ${workspaceId} FOR SHARE`
  return row === undefined ? null : { isInTransfer: row.is_in_transfer }
}
