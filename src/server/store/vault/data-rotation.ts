import { ok } from '../../../schemas/failures.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { WrappedVaultKey } from '../../ports/vault/secret-rows.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { storedColumns, storedOf, type StoredRow } from './secrets.ts'
import { reach } from '../base/translate.ts'
import type { DataRotationRows, ResealedSecret, RotationScope } from '../../ports/vault/key-ring.ts'

/** Bytes of sealed values after which a page ends; the first secret is always part of it. Decision. */
const PAGE_BYTES_MAX = 4_194_304

/** Sealing keys of vaults and the secrets that they seal, replaced while fronts write and release. */
export function openDataRotation(store: Store): DataRotationRows {
  return {
    now: () =>
      reach(async () => {
        const [row] = await store.sql<{ now: string }[]>`SELECT clock_timestamp()::text AS now`
        return ok(row?.now ?? '')
      }),
    vaults: (scope, page) => reach(async () => ok(await vaultsOf(store.sql, scope, page))),
    sealingKeys: (vaultIds) => reach(async () => ok(await sealingKeys(store.sql, vaultIds))),
    replace: (keys, madeBefore, by) =>
      reach(() => store.sql.begin(async (tx) => ok(await replace(tx, keys, madeBefore, by)))),
    onOldKeys: (vaultIds, page) =>
      reach(async () => {
        const rows = await onOldKeys(store, vaultIds, page)
        return ok(rows.map(storedOf))
      }),
    reseal: (secrets) => reach(() => store.sql.begin(async (tx) => ok(await reseal(tx, secrets)))),
    removeOld: (vaultIds, by) =>
      reach(() => store.sql.begin(async (tx) => ok(await removeOld(tx, vaultIds, by)))),
  }
}

/** Sealing keys of all vaults, and how many secrets old keys still seal. */
interface SealingKeyUse {
  readonly vaults: number
  readonly oldKeys: number
  readonly secrets: number
  readonly secretsOnOldKeys: number
  /** Secrets on old keys whose rows have no hosts; nothing can decrypt such secrets. */
  readonly legacyOnOldKeys: number
}

export async function sealingKeyUse(sql: Queryable): Promise<SealingKeyUse> {
  const [row] = await sql<SealingKeyUse[]>`
    SELECT (SELECT count(DISTINCT vault_id) FROM vault_keys)::int AS vaults,
      (SELECT count(*) FROM vault_keys WHERE purpose = 'sealing' AND NOT is_current)::int AS "oldKeys",
      count(*)::int AS secrets,
      count(*) FILTER (WHERE k.is_current IS NOT TRUE)::int AS "secretsOnOldKeys",
      count(*) FILTER (WHERE k.is_current IS NOT TRUE AND s.hosts IS NULL)::int AS "legacyOnOldKeys"
    FROM secrets s LEFT JOIN vault_keys k ON k.id = s.key_id`
  return row ?? { vaults: 0, oldKeys: 0, secrets: 0, secretsOnOldKeys: 0, legacyOnOldKeys: 0 }
}

interface SealingKeyRow {
  readonly id: string
  readonly vault_id: string
  readonly root_key_id: string
  readonly wrapped: Buffer
}

async function vaultsOf(
  sql: Queryable,
  { workspaceId, vaultId }: RotationScope,
  { afterVaultId, limit }: { readonly afterVaultId: string | null; readonly limit: number },
): Promise<readonly WrappedVaultKey[]> {
  const rows = await sql<SealingKeyRow[]>`
    SELECT k.id, k.vault_id, k.root_key_id, k.wrapped FROM vault_keys k JOIN vaults v ON v.id = k.vault_id
    WHERE k.purpose = 'sealing' AND k.is_current
      AND (${afterVaultId}::uuid IS NULL OR k.vault_id > ${afterVaultId}::uuid)
      AND (${workspaceId}::uuid IS NULL OR v.workspace_id = ${workspaceId}::uuid)
      AND (${vaultId}::uuid IS NULL OR v.id = ${vaultId}::uuid)
    ORDER BY k.vault_id LIMIT ${limit}`
  return rows.map(keyOf)
}

async function sealingKeys(sql: Queryable, vaultIds: readonly string[]): Promise<readonly WrappedVaultKey[]> {
  if (vaultIds.length === 0) return []
  const rows = await sql<SealingKeyRow[]>`
    SELECT id, vault_id, root_key_id, wrapped FROM vault_keys WHERE vault_id IN ${sql(vaultIds)} AND purpose = 'sealing' AND is_current`
  return rows.map(keyOf)
}

function keyOf({ id, vault_id: vaultId, root_key_id: rootKeyId, wrapped }: SealingKeyRow): WrappedVaultKey {
  return { id, vaultId, purpose: 'sealing', rootKeyId, wrapped }
}

/** Does the same as `lockVault` for several vaults, always in the order of their ids. */
async function lockVaults(tx: Transaction, vaultIds: readonly string[]): Promise<void> {
  await tx`SELECT 1 FROM vaults WHERE id IN ${tx([...new Set(vaultIds)])} ORDER BY id FOR NO KEY UPDATE`
}

async function replace(
  tx: Transaction,
  keys: readonly WrappedVaultKey[],
  madeBefore: string,
  by: ChangedBy,
): Promise<number> {
  if (keys.length === 0) return 0
  const vaultIds = keys.map(({ vaultId }) => vaultId)
  await lockVaults(tx, vaultIds)
  const ended = await tx<{ vault_id: string; id: string }[]>`
    UPDATE vault_keys SET is_current = false
    WHERE vault_id IN ${tx(vaultIds)} AND purpose = 'sealing' AND is_current AND created_at < ${madeBefore}::text::timestamptz
    RETURNING vault_id, id`
  const before = new Map(ended.map((row) => [row.vault_id, row.id]))
  const made = keys.filter(({ vaultId }) => before.has(vaultId))
  if (made.length === 0) return 0
  const rows = made.map(({ id, vaultId, rootKeyId, wrapped }) => ({
    id,
    vault_id: vaultId,
    root_key_id: rootKeyId,
    wrapped: base64(wrapped),
  }))
  await tx`
    INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped)
    SELECT id, vault_id, 'sealing', root_key_id, decode(wrapped, 'base64')
    FROM jsonb_to_recordset(${tx.json(rows)}) AS r (id uuid, vault_id uuid, root_key_id text, wrapped text)`
  await audit(
    tx,
    by,
    made.map(({ vaultId, id }) => ({
      vaultId,
      before: { sealing_key_id: before.get(vaultId) },
      after: { sealing_key_id: id },
    })),
  )
  return made.length
}

function onOldKeys(
  store: Store,
  vaultIds: readonly string[],
  {
    after,
    limit,
  }: { readonly after: { readonly vaultId: string; readonly name: string } | null; readonly limit: number },
) {
  const { sql } = store
  const behind =
    after === null
      ? sql``
      : sql`AND (s.vault_id, s.name) > (${after.vaultId}::uuid, ${after.name}::text COLLATE "C")`
  return sql<StoredRow[]>`
    SELECT ${storedColumns(store)}, 3 AS rank
    FROM (
      SELECT vault_id, name, sum(octet_length(sealed)) OVER w AS bytes, row_number() OVER w AS nth
      FROM (
        SELECT s.vault_id, s.name, s.sealed FROM secrets s LEFT JOIN vault_keys k ON k.id = s.key_id
        WHERE s.vault_id IN ${sql(vaultIds)} AND k.is_current IS NOT TRUE ${behind}
        ORDER BY s.vault_id, s.name LIMIT ${limit}) AS found
      WINDOW w AS (ORDER BY vault_id, name)) AS p
    JOIN secrets s USING (vault_id, name) JOIN vaults v ON v.id = s.vault_id
    LEFT JOIN vault_keys k ON k.id = s.key_id AND k.vault_id = s.vault_id AND k.purpose = 'sealing'
    WHERE p.bytes <= ${PAGE_BYTES_MAX} OR p.nth = 1 ORDER BY s.vault_id, s.name`
}

async function reseal(tx: Transaction, secrets: readonly ResealedSecret[]): Promise<number> {
  if (secrets.length === 0) return 0
  // Concurrent writes into these vaults wait for this lock, so that a key that was replaced meanwhile is
  // noticed.
  await lockVaults(
    tx,
    secrets.map(({ from }) => from.vaultId),
  )
  const wanted = secrets.map(({ from: { vaultId, name, version, keyId: was }, keyId, sealed }) => ({
    vault_id: vaultId,
    name,
    version,
    was,
    key_id: keyId,
    sealed: base64(sealed),
  }))
  const { count } = await tx`
    UPDATE secrets s SET key_id = w.key_id, sealed = decode(w.sealed, 'base64')
    FROM jsonb_to_recordset(${tx.json(wanted)})
      AS w (vault_id uuid, name text, version bigint, was uuid, key_id uuid, sealed text)
    JOIN vault_keys k ON k.id = w.key_id AND k.vault_id = w.vault_id AND k.purpose = 'sealing' AND k.is_current
    WHERE s.vault_id = w.vault_id AND s.name = w.name AND s.version = w.version AND s.key_id = w.was`
  return count
}

async function removeOld(tx: Transaction, vaultIds: readonly string[], by: ChangedBy): Promise<number> {
  if (vaultIds.length === 0) return 0
  await lockVaults(tx, vaultIds)
  const removed = await tx<{ vault_id: string; id: string }[]>`
    DELETE FROM vault_keys k WHERE vault_id IN ${tx(vaultIds)} AND purpose = 'sealing' AND NOT is_current
      AND NOT EXISTS (SELECT 1 FROM secrets s WHERE s.key_id = k.id)
    RETURNING vault_id, id`
  await audit(
    tx,
    by,
    removed.map(({ vault_id: vaultId, id }) => ({
      vaultId,
      before: { removed_sealing_key_id: id },
      after: null,
    })),
  )
  return removed.length
}

interface VaultChange {
  readonly vaultId: string
  readonly before: unknown
  readonly after: unknown
}

async function audit(tx: Transaction, by: ChangedBy, changes: readonly VaultChange[]): Promise<void> {
  if (changes.length === 0) return
  const rows = await tx<{ id: string; organization_id: string; workspace_id: string }[]>`
    SELECT id, organization_id, workspace_id FROM vaults WHERE id IN ${tx(changes.map(({ vaultId }) => vaultId))}`
  const places = new Map(rows.map((row) => [row.id, row]))
  await appendAudit(
    tx,
    ...changes.flatMap(({ vaultId, before, after }): readonly AuditEvent[] => {
      const place = places.get(vaultId)
      if (place === undefined) return []
      return [
        {
          ...by,
          organizationId: place.organization_id,
          workspaceId: place.workspace_id,
          operation: 'cli.vault-rotate-data',
          outcome: 'changed',
          objectKind: 'vault',
          objectId: vaultId,
          before,
          after,
        },
      ]
    }),
  )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
