import type { Ports } from '../ports/ports.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import type { Store } from '../store/open.ts'
import { openSecretRows } from '../store/secrets.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { VaultKeys } from '../vault/vault-keys.ts'
import { openVaults } from '../vault/vaults.ts'

export interface VaultMeans {
  readonly store: Store
  readonly rootKeys: RootKeys
  readonly jobs: ShortJobs
}

export interface VaultPart {
  readonly ports: Pick<Ports, 'vaults'>
  close(): Promise<void>
}

/** Everything that stores secrets. */
export function openVaultParts({ store, rootKeys, jobs }: VaultMeans): VaultPart {
  const rows = openSecretRows(store)
  const keys = new VaultKeys({ rootKeys, rows })
  return {
    ports: { vaults: openVaults({ rows, keys, jobs }) },
    async close() {
      keys.close()
    },
  }
}
