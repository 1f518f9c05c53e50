import { randomBytes, randomUUID } from 'node:crypto'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { wrapKey } from '../../../../src/server/vault/wrap.ts'
import { sealSecrets } from '../../../../src/workers/seal-secrets.ts'
import { HOST, type RotationStand } from './stand.ts'

/** Interns whose rows are inserted at once. */
const BATCH = 250

/** The prefix of a value, whichever write was last. */
export function prefixOf(internId: string, name: string): string {
  return `value of ${internId}/${name} `
}

export function nameOf(nth: number): string {
  return `secret_${nth}`
}

/** Interns, each with a vault and so many secrets, sealed as a front seals them. @returns their ids */
export async function seed(
  stand: RotationStand,
  { vaults, secretsEach }: { readonly vaults: number; readonly secretsEach: number },
): Promise<readonly string[]> {
  const {
    store: { sql },
  } = stand
  const rootKeys = openRootKeys({ setting: null, file: null, dataDir: stand.node.dataDir })
  const [row] = await sql<
    { last: string }[]
  >`SELECT setval('secret_versions', nextval('secret_versions') + ${vaults * secretsEach}) AS last`
  let version = Number(row?.last ?? 0)
  const ids: string[] = []
  while (ids.length < vaults) {
    const batch = Array.from({ length: Math.min(BATCH, vaults - ids.length) }, () => {
      const vault = oneVault(stand, { rootKeys, secretsEach, version })
      version -= secretsEach
      return vault
    })
    await insert(stand, batch)
    ids.push(...batch.map(({ internId }) => internId))
  }
  return ids
}

interface SeededVault {
  readonly vaultId: string
  readonly internId: string
  readonly keys: readonly Readonly<Record<string, string>>[]
  readonly secrets: readonly Readonly<Record<string, string>>[]
}

interface Deps {
  readonly rootKeys: ReturnType<typeof openRootKeys>
  readonly secretsEach: number
  /** The highest of its versions. */
  readonly version: number
}

function oneVault({ workspaceId }: RotationStand, { rootKeys, secretsEach, version }: Deps): SeededVault {
  const [vaultId, internId, rootKeyId] = [newId(), newId(), rootKeys.currentId]
  const rootKey = rootKeys.get(rootKeyId) ?? Buffer.alloc(0)
  const plain = { fingerprint: randomBytes(32), sealing: randomBytes(32) }
  const keys = (['fingerprint', 'sealing'] as const).map((purpose) => {
    const id = randomUUID()
    const wrapped = wrapKey(rootKey, plain[purpose], { id, ownerId: vaultId, purpose, rootKeyId })
    return { id, vault_id: vaultId, purpose, root_key_id: rootKeyId, wrapped: wrapped.toString('base64') }
  })
  const plains = Array.from({ length: secretsEach }, (_, nth) => ({
    facts: { name: nameOf(nth), hosts: [HOST], version: String(version - nth) },
    value: new TextEncoder().encode(`${prefixOf(internId, nameOf(nth))}0`),
  }))
  const all = sealSecrets({
    vault: { vaultId, workspaceId },
    // The task clears what it is given.
    keys: { fingerprint: new Uint8Array(plain.fingerprint), sealing: new Uint8Array(plain.sealing) },
    secrets: plains,
  })
  const secrets = all.map(({ fingerprint, sealed }, nth) => {
    const facts = plains[nth]?.facts ?? { name: '', version: '' }
    return {
      vault_id: vaultId,
      name: facts.name,
      version: facts.version,
      fingerprint,
      key_id: keys[1]?.id ?? '',
      sealed: Buffer.from(sealed).toString('base64'),
    }
  })
  return { vaultId, internId, keys, secrets }
}

async function insert(
  { store, organizationId, workspaceId }: RotationStand,
  batch: readonly SeededVault[],
): Promise<void> {
  const places = batch.map(({ vaultId, internId }) => ({ vault_id: vaultId, intern_id: internId }))
  await store.sql.begin(async (tx) => {
    await tx`
      INSERT INTO vaults (id, organization_id, workspace_id, kind)
      SELECT vault_id, ${organizationId}::uuid, ${workspaceId}::uuid, 'intern' FROM jsonb_to_recordset(${tx.json(places)}) AS r (vault_id uuid)`
    await tx`
      INSERT INTO interns (id, organization_id, workspace_id, vault_id, name)
      SELECT intern_id, ${organizationId}::uuid, ${workspaceId}::uuid, vault_id, 'Prove'
      FROM jsonb_to_recordset(${tx.json(places)}) AS r (vault_id uuid, intern_id uuid)`
    await tx`
      INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped)
      SELECT id, vault_id, purpose, root_key_id, decode(wrapped, 'base64')
      FROM jsonb_to_recordset(${tx.json(batch.flatMap(({ keys }) => keys))})
        AS r (id uuid, vault_id uuid, purpose text, root_key_id text, wrapped text)`
    await tx`
      INSERT INTO secrets (vault_id, name, hosts, fingerprint, version, key_id, sealed)
      SELECT vault_id, name, ARRAY[${HOST}::text], fingerprint, version, key_id, decode(sealed, 'base64')
      FROM jsonb_to_recordset(${tx.json(batch.flatMap(({ secrets }) => secrets))})
        AS r (vault_id uuid, name text, fingerprint text, version bigint, key_id uuid, sealed text)`
  })
}
