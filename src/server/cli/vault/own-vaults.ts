import { ok } from '../../../schemas/failures.ts'
import { answerTask, runTask } from '../../../workers/tasks.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { Vaults } from '../../ports/vault/vault.ts'
import { openSecretRows } from '../../store/vault/secrets.ts'
import { VaultKeys } from '../../vault/vault-keys.ts'
import { openVaults } from '../../vault/vaults.ts'
import type { DatabaseHandle } from '../parts/database.ts'
import { ownRootKeys } from './root-keys.ts'

/** Jobs on this thread: a verb blocks no other work. */
export const OWN_JOBS: ShortJobs = {
  run: async (name, input) => ok(await answerTask(name, input)),
  here: runTask,
}

/** The vaults of this installation, sealed on this thread. Throws CliFailure. */
export async function withVaults<T>(
  { store, publish }: DatabaseHandle,
  use: (vaults: Vaults) => Promise<T>,
): Promise<T> {
  const rows = openSecretRows(store, publish)
  const keys = new VaultKeys({ rootKeys: ownRootKeys(), rows })
  try {
    return await use(openVaults({ rows, keys, jobs: OWN_JOBS }))
  } finally {
    keys.close()
  }
}
