import type { Command } from 'commander'
import { runtimeOf } from '../../supervisor/data-directory/data-directory.ts'
import { leaveScaleRequest, untilScaled } from '../../supervisor/fleet/scale-requests.ts'
import type { Counts, ScaleEnd } from '../../supervisor/fleet/scaling.ts'
import { addVerb, CliFailure, countOf, loadGeneration, print } from '../parts/verb.ts'
import { runningNode } from '../parts/node-api.ts'

interface Options {
  readonly fronts?: number
  readonly workers?: number
  readonly json?: boolean
}

/** `scale`. */
export function addTo(program: Command): void {
  const verb = addVerb(
    program,
    'scale',
    'change the number of fronts and worker threads of the running node and wait until they are ready',
  )
  verb
    .option('--fronts <n>', 'number of fronts (processes that serve the API)', countOf)
    .option('--workers <n>', 'total number of transfer threads across all fronts', countOf)
  verb.action(async (options: Options) => {
    const { fronts = null, workers = null } = options
    if (fronts === null && workers === null) verb.error('error: give --fronts, --workers, or both')
    const { dataDir } = loadGeneration().config
    const pid = nodeOn(dataDir)
    const node = `the node (pid ${pid})`
    const name = signalled(node, () => {
      const left = leaveScaleRequest(dataDir, { fronts, workers })
      process.kill(pid, 'SIGUSR2')
      return left
    })
    const { before, now } = wellEnded(node, await untilScaled(dataDir, name))
    const line = `${node} now runs ${textOf(now)}; previously: ${textOf(before)}. A restart of the node restores the configured numbers`
    print(options, { pid, ...now, before }, line)
  })
}

/** The process id of the running node. A node that is starting would miss the request; a node of another version would be ended by the signal. */
function nodeOn(dataDir: string): number {
  const running = runningNode(dataDir)
  const runtime = runtimeOf(dataDir)
  if (runtime === null) throw new CliFailure(`the node (pid ${running.pid}) is still starting`)
  if (runtime.scalesBy !== 'SIGUSR2')
    throw new CliFailure(
      `the node (pid ${running.pid}) runs a version that cannot be scaled: restart the node`,
    )
  return running.pid
}

function signalled<T>(node: string, signal: () => T): T {
  try {
    return signal()
  } catch (cause) {
    throw new CliFailure(`${node} cannot be signalled: the process may belong to another user`, { cause })
  }
}

function wellEnded(node: string, end: ScaleEnd | null): ScaleEnd & { readonly state: 'done' } {
  if (end === null) throw new CliFailure(`${node} exited before the scaling finished`)
  if (end.state === 'done') return end
  throw new CliFailure(`${node} was not scaled: ${end.reason}`)
}

function textOf({ fronts, workers }: Counts): string {
  return `${fronts} front${fronts === 1 ? '' : 's'} and ${workers} worker thread${workers === 1 ? '' : 's'}`
}
