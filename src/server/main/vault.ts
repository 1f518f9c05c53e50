import type { AuditTrail } from '../ports/audit/audit.ts'
import type { Hints } from '../ports/keys/keys.ts'
import type { Log } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { openAuditTrail } from '../store/audit/audit-trail.ts'
import { openInterns } from '../store/workspaces/interns.ts'
import type { Store } from '../store/base/open.ts'
import { openSecretRows } from '../store/vault/secrets.ts'
import { openReleases } from '../vault/releases.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { VaultKeys } from '../vault/vault-keys.ts'
import { openVaults } from '../vault/vaults.ts'

export interface VaultDeps {
  readonly store: Store
  readonly rootKeys: RootKeys
  readonly jobs: ShortJobs
  readonly log: Log
  readonly publish: Hints['publish']
}

export interface VaultPart {
  readonly ports: Pick<Ports, 'vaults' | 'releases' | 'interns'>
  readonly audit: AuditTrail
  /** To be called while the store is open: releases must be written to the audit log. */
  close(): Promise<void>
}

export function openVaultPorts({ store, rootKeys, jobs, log, publish }: VaultDeps): VaultPart {
  const rows = openSecretRows(store, publish)
  const keys = new VaultKeys({ rootKeys, rows })
  const audit = openAuditTrail(store, log)
  return {
    ports: {
      vaults: openVaults({ rows, keys, jobs }),
      releases: openReleases({ rows, keys, jobs, audit, log }),
      interns: openInterns(store, publish),
    },
    audit,
    async close() {
      keys.close()
      await audit.close()
    },
  }
}
