import { openGate } from '../../main/egress.ts'
import { openVaultPorts } from '../../main/vault.ts'
import type { EndpointProber } from '../../ports/endpoints/private-endpoints.ts'
import { createProber } from '../../upstream/endpoints/prober.ts'
import { loadChosenModels } from '../parts/load-models.ts'
import type { DatabaseHandle } from '../parts/database.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import { loadGeneration } from '../parts/verb.ts'
import { OWN_JOBS } from '../vault/own-vaults.ts'
import { ownRootKeys } from '../vault/root-keys.ts'

/**
 * Probes endpoints as the node does: through the gate of its settings, with secrets of its vaults, whose
 * release is audited. Throws CliFailure.
 */
export async function withProber<T>(
  { store, publish }: DatabaseHandle,
  use: (prober: EndpointProber) => Promise<T>,
): Promise<T> {
  const { config } = loadGeneration()
  const { providers } = loadChosenModels(config)
  const egress = openGate(config)
  const vault = openVaultPorts({ store, rootKeys: ownRootKeys(), jobs: OWN_JOBS, log: stderrLog, publish })
  try {
    const { releases } = vault.ports
    return await use(
      createProber({ egress, jobs: OWN_JOBS, releases, providers, now: () => performance.now() }),
    )
  } finally {
    await egress.close()
    await vault.close()
  }
}
