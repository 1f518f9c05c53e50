import type { Generation } from '../../../config.ts'
import {
  runningSupervisor,
  runtimeOf,
  type Runtime,
} from '../../../supervisor/data-directory/data-directory.ts'
import type { ProcessIdentity } from '../../../supervisor/fleet/process-state.ts'
import { bad, type Finding } from './finding.ts'
import { codeOf, reasonOf } from '../../parts/reasons.ts'
import { HOLDER_MS_MAX } from './port-holder.ts'

/** Milliseconds that a store may take to answer, and again to return its rows. Decision. */
export const STORE_MS_MAX = 3_000

/** The input of every check. */
export interface Look {
  readonly generation: Generation
  /** The supervisor that runs on this data directory; null: none. */
  readonly running: ProcessIdentity | null
  /** The published addresses of the running node; null also while it starts. */
  readonly runtime: Runtime | null
  /** Unix milliseconds of this machine's clock. */
  readonly now: () => number
  readonly storeMsMax: number
  /** Milliseconds to search for the holder of a port; see `holderOf`. */
  readonly holderMsMax: number
}

export interface LookProblem {
  readonly finding: Finding
}

/**
 * The input of the checks of the installation. If the data directory belongs to another user, these checks can
 * read nothing in it, and this is the only finding.
 */
export function lookAt(generation: Generation): Look | LookProblem {
  const { dataDir } = generation.config
  try {
    const running = runningSupervisor(dataDir)
    const runtime = running === null ? null : runtimeOf(dataDir)
    return {
      generation,
      running,
      runtime,
      now: Date.now,
      storeMsMax: STORE_MS_MAX,
      holderMsMax: HOLDER_MS_MAX,
    }
  } catch (cause) {
    const why = codeOf(cause) === 'ENOTDIR' ? 'is not a directory' : `cannot be read: ${reasonOf(cause)}`
    return {
      finding: bad(
        'data_directory',
        `${dataDir} ${why}`,
        'set SLUICE_DATA, or run doctor as the user who runs the node',
      ),
    }
  }
}
