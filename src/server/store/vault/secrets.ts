import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { ISSUES_MAX } from '../../../schemas/limits/limits.ts'
import type { Hints } from '../../ports/keys/keys.ts'
import type {
  EffectiveRow,
  SecretRows,
  StoredSecret,
  VaultKeyPurpose,
  SecretBinding,
  SecretBindings,
} from '../../ports/vault/secret-rows.ts'
import type {
  EffectiveSecret,
  SecretMetadata,
  SecretPage,
  SecretPageInput,
  SecretSource,
  VaultScope,
} from '../../ports/vault/vault.ts'
import { changingSecrets } from '../endpoints/endpoint-secrets.ts'
import type { Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import {
  addVaultKeys,
  effectiveVaults,
  internOf,
  isAttachedGone,
  ownVault,
  vaultForWriting,
} from './vaults.ts'
import { removeSecret, writeSecrets } from './secret-writes.ts'

/**
 * Vaults, their wrapped keys and sealed secrets.
 * @param publish informs the fronts at once when the credential of a private endpoint changes; null for a process that
 * writes no secrets
 */
export function openSecretRows(store: Store, publish: Hints['publish'] | null = null): SecretRows {
  const deps = { store, publish }
  return {
    see: (scope) => reach(async () => ((await isSeen(store, scope)) ? ok(null) : fail('intern_unknown'))),
    list: (scope, page) => reach(() => listSecrets(store, scope, page)),
    among: (scope, names) => reach(() => secretsAmong(store, scope, names)),
    effective: (scope, page) => reach(() => listEffective(store, scope, page)),
    forWriting: (scope, versions) => reach(() => vaultForWriting(store.sql, scope, versions)),
    addKeys: (vaultId, keys) => reach(() => store.sql.begin((tx) => addVaultKeys(tx, vaultId, keys))),
    write: (write) =>
      reach(() => {
        const change = { scope: write.scope, names: write.secrets.map(({ name }) => name) }
        return changingSecrets(deps, change, (tx) => writeSecrets(tx, write, store.options.caps))
      }),
    remove: (scope, name, by) =>
      reach(() =>
        changingSecrets(deps, { scope, names: [name] }, (tx) => removeSecret(tx, { scope, name, by })),
      ),
    sources: (scope, names) => reach(() => sourcesOf(store, scope, names)),
    find: (scope, name) => reach(() => findEffective(store, scope, name)),
  }
}

/** Visible columns of `secrets s`. The client reads no arrays, so hosts come as JSON. */
interface SecretRow {
  readonly name: string
  readonly hosts: readonly (string | null)[] | null
  readonly fingerprint: string | null
  readonly created_at: Date
}

export function secretOf({ name, hosts, fingerprint, created_at: createdAt }: SecretRow): SecretMetadata {
  return { name, hosts: textsOf(hosts), fingerprint, createdAt }
}

const SOURCES: Readonly<Record<number, SecretSource>> = { 1: 'intern', 2: 'attached', 3: 'workspace' }

async function isSeen(store: Store, scope: VaultScope): Promise<boolean> {
  return scope.internId === null || (await internOf(store.sql, scope)) !== null
}

async function listSecrets(
  store: Store,
  scope: VaultScope,
  page: SecretPageInput,
): Promise<Outcome<SecretPage>> {
  if (!(await isSeen(store, scope))) return fail('intern_unknown')
  const { sql } = store
  const rows = await sql<SecretRow[]>`
    SELECT name, array_to_json(hosts) AS hosts, fingerprint, created_at FROM secrets
    WHERE vault_id = (${ownVault(sql, scope)}) ORDER BY name LIMIT ${page.limit + 1} OFFSET ${page.offset}`
  return ok({ secrets: rows.slice(0, page.limit).map(secretOf), hasMore: rows.length > page.limit })
}

async function secretsAmong(
  { sql }: Store,
  scope: VaultScope,
  names: readonly string[],
): Promise<Outcome<readonly SecretMetadata[]>> {
  if (names.length === 0) return ok([])
  const rows = await sql<SecretRow[]>`
    SELECT name, array_to_json(hosts) AS hosts, fingerprint, created_at FROM secrets
    WHERE vault_id = (${ownVault(sql, scope)}) AND name IN ${sql(names)}`
  return ok(rows.map(secretOf))
}

async function listEffective(
  store: Store,
  scope: VaultScope,
  page: SecretPageInput,
): Promise<Outcome<SecretPage<EffectiveSecret>>> {
  const { sql } = store
  const intern = await internOf(sql, scope)
  if (intern === null) return fail('intern_unknown')
  if (isAttachedGone(intern)) return fail('vault_unknown')
  const rows = await sql<(SecretRow & { readonly rank: number })[]>`
    SELECT DISTINCT ON (s.name) s.name, array_to_json(s.hosts) AS hosts, s.fingerprint, s.created_at, v.rank
    FROM (${effectiveVaults(sql, scope)}) v JOIN secrets s USING (vault_id)
    ORDER BY s.name, v.rank LIMIT ${page.limit + 1} OFFSET ${page.offset}`
  const secrets = rows
    .slice(0, page.limit)
    .map((row) => ({ ...secretOf(row), scope: SOURCES[row.rank] ?? 'workspace' }))
  return ok({ secrets, hasMore: rows.length > page.limit })
}

async function sourcesOf(
  store: Store,
  scope: VaultScope,
  names: readonly string[],
): Promise<Outcome<readonly StoredSecret[]>> {
  const { sql } = store
  const rows = await sql<StoredRow[]>`
    SELECT ${storedColumns(store)}, 3 AS rank
    FROM (${effectiveVaults(sql, { ...scope, internId: null })}) v JOIN secrets s USING (vault_id)
    LEFT JOIN vault_keys k ON k.id = s.key_id AND k.vault_id = s.vault_id AND k.purpose = 'sealing'
    WHERE s.name IN ${sql(names)}`
  const byName = new Map(rows.map((row) => [row.name, storedOf(row)]))
  const found = names.flatMap((name) => byName.get(name) ?? [])
  if (found.length === names.length) return ok(found)
  const issues = names.flatMap((name, at) =>
    byName.has(name)
      ? []
      : [
          {
            path: `/names/${at}`,
            message: 'is not a known name',
            expected: 'the name of a secret of the workspace',
          },
        ],
  )
  return fail('secret_unknown', { metadata: { issues: issues.slice(0, ISSUES_MAX) } })
}

async function findEffective(
  store: Store,
  scope: VaultScope,
  name: string,
): Promise<Outcome<EffectiveRow | null>> {
  const { sql } = store
  if (scope.internId !== null) {
    const intern = await internOf(sql, scope)
    // When the attached vault is gone, the effective secret is unknown.
    if (intern === null || isAttachedGone(intern)) return ok(null)
  }
  const [row] = await sql<StoredRow[]>`
    SELECT ${storedColumns(store)}, v.rank
    FROM (${effectiveVaults(sql, scope)}) v JOIN secrets s USING (vault_id)
    LEFT JOIN vault_keys k ON k.id = s.key_id AND k.vault_id = s.vault_id AND k.purpose = 'sealing'
    WHERE s.name = ${name} ORDER BY v.rank LIMIT 1`
  return ok(row === undefined ? null : storedOf(row))
}

/** Columns of `secrets s`, its vault `v` and its key `k`, for `storedOf`. */
export function storedColumns({ sql }: Store) {
  return sql`
    s.vault_id, v.workspace_id, s.name, array_to_json(s.hosts) AS hosts, s.version, s.sealed,
    k.id AS key_id, k.purpose, k.root_key_id, k.wrapped`
}

export interface StoredRow {
  readonly vault_id: string
  readonly workspace_id: string
  readonly name: string
  readonly hosts: readonly (string | null)[] | null
  readonly version: string
  readonly sealed: Buffer
  readonly key_id: string | null
  readonly purpose: VaultKeyPurpose | null
  readonly root_key_id: string | null
  readonly wrapped: Buffer | null
  readonly rank: number
}

export function storedOf(row: StoredRow): EffectiveRow {
  const { vault_id: vaultId, key_id: id, root_key_id: rootKeyId, purpose, wrapped } = row
  return {
    vaultId,
    workspaceId: row.workspace_id,
    name: row.name,
    hosts: textsOf(row.hosts),
    version: row.version,
    sealed: row.sealed,
    key:
      id === null || rootKeyId === null || purpose === null || wrapped === null
        ? null
        : { id, vaultId, purpose, rootKeyId, wrapped },
    source: SOURCES[row.rank] ?? 'workspace',
  }
}

/** A null element can only come from a manual edit; it becomes the empty text, which matches no host. */
function textsOf(hosts: readonly (string | null)[] | null): readonly string[] | null {
  return hosts === null ? null : hosts.map((host) => (typeof host === 'string' ? host : ''))
}

/** Names and hosts of secrets in the workspaces' own vaults. */
export function openSecretBindings({ sql }: Store): SecretBindings {
  return {
    among: (workspaceId, names) =>
      reach(async () => {
        const rows =
          names.length === 0
            ? []
            : await sql<SecretBinding[]>`
        SELECT s.name, array_to_json(s.hosts) AS hosts FROM vaults v JOIN secrets s ON s.vault_id = v.id
        WHERE v.workspace_id = ${workspaceId} AND v.kind = 'workspace' AND s.name IN ${sql(names)} AND s.hosts IS NOT NULL`
        return ok<readonly SecretBinding[]>(rows)
      }),
  }
}
