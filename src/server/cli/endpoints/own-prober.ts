import { ok } from '../../../schemas/failures.ts'
import { answerTask, runTask } from '../../../workers/tasks.ts'
import { openGate } from '../../main/egress.ts'
import { openVaultPorts } from '../../main/vault.ts'
import type { EndpointProber } from '../../ports/endpoints/private-endpoints.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { createProber } from '../../upstream/endpoints/prober.ts'
import { loadModels } from '../models/load-models.ts'
import type { DatabaseHandle } from '../parts/database.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import { loadGeneration } from '../parts/verb.ts'
import { ownRootKeys } from '../vault/root-keys.ts'

/** A verb blocks no other work. */
const JOBS: ShortJobs = { run: async (name, input) => ok(await answerTask(name, input)), here: runTask }

/**
 * Probes endpoints as the node does: through the gate of its settings, with secrets of its vaults, whose
 * release is audited. Throws CliFailure.
 */
export async function withProber<T>(
  { store, publish }: DatabaseHandle,
  use: (prober: EndpointProber) => Promise<T>,
): Promise<T> {
  const { config } = loadGeneration()
  const { providers } = loadModels(config.catalogFile)
  const egress = openGate(config)
  const vault = openVaultPorts({ store, rootKeys: ownRootKeys(), jobs: JOBS, log: stderrLog, publish })
  try {
    const { releases } = vault.ports
    return await use(createProber({ egress, jobs: JOBS, releases, providers, now: () => performance.now() }))
  } finally {
    await egress.close()
    await vault.close()
  }
}
