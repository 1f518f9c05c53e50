/** A vault whose rows the store has, and whose values the test puts. */
import { fail, ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { ReleaseRequest, SecretReleases } from '../../../src/server/ports/vault/vault.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import type { Store } from '../../../src/server/store/base/open.ts'

/** The credential of sound endpoints. */
export const SECRET_NAME = 'acme_key'

export interface TestVault extends SecretReleases {
  /** Replaces the content of the test workspace's vault, and notifies all fronts. */
  put(name: string, value: string, hosts: readonly string[]): Promise<void>
  remove(name: string): Promise<void>
  readonly asked: readonly ReleaseRequest[]
  /** Values do not open any more, though their rows are there. */
  isBroken: boolean
}

/** Released as the port says, and its rows are those that the store asks. */
export function testVault(
  store: Store,
  {
    organizationId,
    workspaceId,
    tell,
  }: {
    readonly organizationId: string
    readonly workspaceId: string
    readonly tell: (change: { n: number; kind: 'vault'; id: string }) => void
  },
): TestVault {
  const values = new Map<string, { readonly value: string; readonly hosts: readonly string[] }>()
  const asked: ReleaseRequest[] = []
  const [vaultId, keyId] = [newId(), newId()]
  const { sql } = store
  return {
    asked,
    isBroken: false,
    async put(name, value, hosts) {
      values.set(name, { value, hosts })
      await sql`
        INSERT INTO vaults (id, organization_id, workspace_id, kind) VALUES (${vaultId}, ${organizationId}, ${workspaceId}, 'workspace')
        ON CONFLICT DO NOTHING`
      await sql`
        INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped) VALUES (${keyId}, ${vaultId}, 'sealing', 'r', '')
        ON CONFLICT DO NOTHING`
      await sql`DELETE FROM secrets WHERE vault_id = ${vaultId} AND name = ${name}`
      await sql`
        INSERT INTO secrets (vault_id, name, hosts, version, key_id, sealed)
        VALUES (${vaultId}, ${name}, string_to_array(${hosts.join(',')}, ','), nextval('secret_versions'), ${keyId}, '')`
      tell({ n: 0, kind: 'vault', id: workspaceId })
    },
    async remove(name) {
      values.delete(name)
      await sql`DELETE FROM secrets WHERE vault_id = ${vaultId} AND name = ${name}`
      tell({ n: 0, kind: 'vault', id: workspaceId })
    },
    release(request) {
      asked.push(request)
      const found = request.scope.workspaceId === workspaceId ? values.get(request.name) : undefined
      const isReleased = !this.isBroken && found?.hosts.includes(request.host) === true
      return Promise.resolve(
        isReleased && found !== undefined
          ? ok(new Secret(found.value))
          : fail('secret_not_released', { fields: { name: request.name } }),
      )
    },
  }
}
