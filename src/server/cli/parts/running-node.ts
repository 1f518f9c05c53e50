import { runningSupervisor, type Holder } from '../../supervisor/data-directory/data-directory.ts'
import { CliFailure } from './verb.ts'

/**
 * The node that runs on a data directory, to be told something by a signal: that would end another command
 * which has it, a restore as well. Throws CliFailure where none runs.
 */
export function runningNode(dataDir: string): Holder {
  const running = runningSupervisor(dataDir)
  if (running?.isVerb === false) return running
  const why = running === null ? '' : `: another command uses it (pid ${running.pid})`
  throw new CliFailure(`no node runs on ${dataDir}${why}`)
}
