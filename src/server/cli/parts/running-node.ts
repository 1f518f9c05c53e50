import { runningSupervisor, type Holder } from '../../supervisor/data-directory/data-directory.ts'
import { CliFailure } from './verb.ts'

/**
 * The node that runs on a data directory, for a verb that sends it a signal: the signal would end another
 * command that holds the directory, such as a restore. Throws CliFailure where no node runs.
 */
export function runningNode(dataDir: string): Holder {
  const running = runningSupervisor(dataDir)
  if (running?.isVerb === false) return running
  const why = running === null ? '' : `: another command uses the data directory (pid ${running.pid})`
  throw new CliFailure(`no running node uses ${dataDir}${why}`)
}
