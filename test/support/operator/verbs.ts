import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../load/load.ts'
import type { Settings } from '../nodes/node.ts'
import { ROOT } from '../source.ts'
import type { VerbEnded, VerbOrder } from './verb-host.ts'

const HOST_FILE = fileURLToPath(new URL('./verb-host.js', import.meta.url))

/** Processes that have loaded the verbs and run none now. */
const idle: ChildProcess[] = []

/**
 * Runs a verb of the command line in a process that has loaded it already: most of what `bin/sluice` costs is
 * loading. Verbs that are asked for at once run in several. What is about the process itself (signals, pipes)
 * needs `runToEnd`.
 * @param input what it can read from standard input
 */
export async function runVerb(settings: Settings, args: readonly string[], input = ''): Promise<VerbEnded> {
  const host =
    idle.pop() ??
    fork(HOST_FILE, {
      cwd: ROOT,
      env: plainEnvironment(),
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  host.ref()
  host.channel?.ref()
  // Its output may be a terminal, and colours would spoil the text.
  const order: VerbOrder = { env: { ...plainEnvironment(), NO_COLOR: '1', ...settings }, args, input }
  const ended = await answerOf(host, order)
  // An idle one keeps no test from ending, and ends with it.
  host.unref()
  host.channel?.unref()
  idle.push(host)
  return ended
}

function answerOf(host: ChildProcess, order: VerbOrder): Promise<VerbEnded> {
  return new Promise((resolve, reject) => {
    const onExit = (): void =>
      reject(new Error(`sluice ${order.args.join(' ')} ended the process that it ran in`))
    host.once('exit', onExit)
    host.once('message', (ended: VerbEnded) => {
      host.off('exit', onExit)
      resolve(ended)
    })
    host.send(order)
  })
}

/**
 * Runs verbs of one installation.
 * @param before words after `sluice` with which each line begins
 * @returns functions of a line, or of its words
 */
export function verbsOf(settings: Settings, ...before: readonly string[]) {
  const wordsOf = (given: readonly string[]): readonly string[] => [
    ...before,
    ...(given.length === 1 ? (given[0] ?? '').split(' ') : given),
  ]
  return {
    run: (...given: readonly string[]) => runVerb(settings, wordsOf(given)),
    /** The document that the verb prints. */
    json: async (...given: readonly string[]) => {
      const { stdout } = await runVerb(settings, [...wordsOf(given), '--json'])
      return JSON.parse(stdout) as Record<string, unknown>
    },
  }
}
