/** Vaults with keys and secrets that a rotation changes, and what a front releases of them. */
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import type { RootKeys } from '../../../src/server/vault/root-keys.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openReleases } from '../../../src/server/vault/releases.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'
import { BY, HOST, openVaultStand, type VaultStand } from './vault-front.ts'

/** Four vaults with keys, two data keys, and the secrets `a` and `b` in each vault. */
export async function filledStand(t: Parameters<typeof openVaultStand>[0]) {
  const stand = await openVaultStand(t)
  for (const scope of scopes(stand))
    for (const name of ['a', 'b'])
      await putSecret(stand, scope, name, `${name} of ${scope.internId ?? scope.workspaceId}`)
  const ring = openKeyRing({ rootKeys: stand.rootKeys, rows: openDataKeys(stand.store) })
  for (const { workspaceId } of [stand.workspace, stand.otherWorkspace])
    must(await ring.current(workspaceId, 'files'))
  return stand
}

function scopes({ workspace, otherWorkspace, intern, otherIntern }: VaultStand) {
  return [workspace, otherWorkspace, intern, otherIntern]
}

export async function putSecret(
  { vaults }: Pick<VaultStand, 'vaults'>,
  scope: VaultStand['workspace'],
  name: string,
  value: string,
) {
  return must(await vaults.put(scope, { name, hosts: [HOST], value: new Secret(value) }, BY))
}

/**
 * What a front with these root keys releases, by place and name; one that does not open is its failure's
 * name.
 */
export async function released(
  { rows, jobs, ...stand }: VaultStand,
  rootKeys: RootKeys,
): Promise<Record<string, string>> {
  const keys = new VaultKeys({ rootKeys, rows })
  const releases = openReleases({ rows, keys, jobs, audit: { note: () => true }, log: SILENT })
  const values: Record<string, string> = {}
  for (const scope of scopes({ rows, jobs, ...stand })) {
    for (const name of ['a', 'b']) {
      const value = await releases.release({ scope, name, host: HOST, operation: 'test', by: BY })
      values[`${scope.internId ?? scope.workspaceId}/${name}`] = value.ok
        ? value.value.reveal()
        : value.failure.name
    }
  }
  return values
}

export async function leftBehind({ store }: VaultStand): Promise<number> {
  const [row] = await store.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM vault_keys k LEFT JOIN secrets s ON s.key_id = k.id WHERE NOT k.is_current`
  return row?.count ?? -1
}
