import { ok } from '../../../schemas/failures.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import type {
  RewrappedKey,
  RootKeyUse,
  RootRotationRows,
  WrappedKey,
  WrappedKeyTable,
} from '../../ports/vault/key-ring.ts'

const OWNERS: Readonly<Record<WrappedKeyTable, { readonly column: string; readonly table: string }>> = {
  vault_keys: { column: 'vault_id', table: 'vaults' },
  data_keys: { column: 'workspace_id', table: 'workspaces' },
}

/** Keys of vaults and workspaces, rewrapped while fronts read and add keys. */
export function openRootRotation(store: Store): RootRotationRows {
  return {
    page: (table, { rootKeyId, afterId, limit }) =>
      reach(async () => {
        const { sql } = store
        const rows = await sql<KeyRow[]>`
        SELECT id, ${sql(OWNERS[table].column)} AS owner_id, purpose, root_key_id, wrapped FROM ${sql(table)}
        WHERE root_key_id <> ${rootKeyId} AND (${afterId}::uuid IS NULL OR id > ${afterId}::uuid)
        ORDER BY id LIMIT ${limit}`
        return ok(rows.map(keyOf))
      }),
    rewrap: (table, keys, by) =>
      reach(() => store.sql.begin(async (tx) => ok(await rewrap(tx, table, keys, by)))),
  }
}

/** Uses of root keys in the whole installation, most used first. */
export async function rootKeyUses(sql: Queryable): Promise<readonly RootKeyUse[]> {
  return sql<RootKeyUse[]>`
    SELECT root_key_id AS "rootKeyId", sum(is_vault)::int AS "vaultKeys", sum(1 - is_vault)::int AS "dataKeys"
    FROM (SELECT root_key_id, 1 AS is_vault FROM vault_keys UNION ALL SELECT root_key_id, 0 FROM data_keys) AS k
    GROUP BY root_key_id ORDER BY count(*) DESC, root_key_id`
}

/** Key of the advisory lock for writing the file of root keys; any number without another use. */
const ROOT_KEY_FILE_LOCK = 7_011_946

/**
 * Runs work exclusively among all processes that add a key to a file of root keys: two at once would lose a
 * key that is in use already.
 */
export function aloneWithRootKeys<T>(store: Store, work: () => T): Promise<T> {
  return store.sql
    .begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${ROOT_KEY_FILE_LOCK})`
      return { made: work() }
    })
    .then(({ made }) => made)
}

async function rewrap(
  tx: Transaction,
  table: WrappedKeyTable,
  keys: readonly RewrappedKey[],
  by: ChangedBy,
): Promise<number> {
  const wanted = keys.map(({ from, rootKeyId, wrapped }) => ({
    id: from.id,
    was_root: from.rootKeyId,
    was: base64(from.wrapped),
    root: rootKeyId,
    wrapped: base64(wrapped),
  }))
  const owner = OWNERS[table]
  // A row that another transaction has locked is left to the next pass, so that two rotations never wait for
  // each other.
  const groups = await tx<Rewrapped[]>`
    WITH wanted AS MATERIALIZED (
      SELECT id, was_root, decode(was, 'base64') AS was, root, decode(wrapped, 'base64') AS wrapped
      FROM jsonb_to_recordset(${tx.json(wanted)}) AS r (id uuid, was_root text, was text, root text, wrapped text)),
    held AS MATERIALIZED (
      SELECT k.id FROM ${tx(table)} k JOIN wanted w USING (id) WHERE k.root_key_id = w.was_root AND k.wrapped = w.was
      ORDER BY k.id FOR NO KEY UPDATE OF k SKIP LOCKED),
    changed AS (
      UPDATE ${tx(table)} k SET root_key_id = w.root, wrapped = w.wrapped
      FROM held JOIN wanted w USING (id) WHERE k.id = held.id
      RETURNING k.${tx(owner.column)} AS owner_id, w.was_root, w.root)
    SELECT o.organization_id AS "organizationId", c.was_root AS was, c.root AS root, count(*)::int AS count
    FROM changed c JOIN ${tx(owner.table)} o ON o.id = c.owner_id GROUP BY 1, 2, 3`
  await appendAudit(tx, ...groups.map((group) => eventOf(table, group, by)))
  return groups.reduce((sum, { count }) => sum + count, 0)
}

interface Rewrapped {
  readonly organizationId: string
  readonly was: string
  readonly root: string
  readonly count: number
}

function eventOf(
  table: WrappedKeyTable,
  { organizationId, was, root, count }: Rewrapped,
  by: ChangedBy,
): AuditEvent {
  return {
    ...by,
    organizationId,
    workspaceId: null,
    operation: 'cli.vault-rotate-root',
    outcome: 'changed',
    objectKind: 'root_key',
    objectId: root,
    before: { root_key_id: was, [table]: count },
    after: { root_key_id: root, [table]: count },
  }
}

interface KeyRow {
  readonly id: string
  readonly owner_id: string
  readonly purpose: string
  readonly root_key_id: string
  readonly wrapped: Buffer
}

function keyOf({ id, owner_id: ownerId, purpose, root_key_id: rootKeyId, wrapped }: KeyRow): WrappedKey {
  return { id, ownerId, purpose, rootKeyId, wrapped }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
