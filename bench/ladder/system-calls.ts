/**
 * System calls of a serving thread, counted in a load of their own: by perf, or by strace, which slows what
 * it counts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { programOnPath } from '../peers.ts'

/** Milliseconds of the load. */
const LOAD_MS = 1_000
/** Milliseconds in which a counter attaches itself to the process. */
const ATTACH_MS = 300

export interface Counted {
  readonly pid: number
  readonly port: number
  readonly request: LoadRequest
  readonly connections: number
}

interface Counter {
  readonly program: string
  /** @param thread the first thread of a process, which is the one that serves */
  args(thread: number): readonly string[]
  /** @param text what it prints when it is interrupted */
  callsIn(text: string): number | null
}

const COUNTERS: readonly Counter[] = [
  {
    program: 'perf',
    args: (thread) => ['stat', '-x', ',', '-e', 'raw_syscalls:sys_enter', '-t', String(thread)],
    callsIn: countOfPerf,
  },
  // Without -f the first thread alone is counted.
  { program: 'strace', args: (thread) => ['-c', '-p', String(thread)], callsIn: totalOfStrace },
]

/** Calls a request; null where no counter is there, or may look at the process. */
export async function systemCalls(counted: Counted): Promise<number | null> {
  for (const counter of COUNTERS) {
    const program = programOnPath(counter.program)
    const calls = program === null ? null : await countedBy(counter, program, counted)
    if (calls !== null) return calls
  }
  return null
}

async function countedBy(
  { args, callsIn }: Counter,
  program: string,
  { pid, port, request, connections }: Counted,
): Promise<number | null> {
  const counting = spawn(program, args(pid), { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  counting.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const ended = once(counting, 'close')
  await Promise.race([sleep(ATTACH_MS), ended])
  const load = await runLoad({
    host: '127.0.0.1',
    port,
    connections,
    durationMs: LOAD_MS,
    pace: { kind: 'closed' },
    requests: [request],
  })
  counting.kill('SIGINT')
  await ended
  const calls = callsIn(text)
  return calls === null || load.requests === 0 ? null : calls / load.requests
}

/** The first column of the one line of perf's values. */
export function countOfPerf(values: string): number | null {
  const [, count] = /^(\d+),[^\n]*raw_syscalls:sys_enter/m.exec(values) ?? []
  return count === undefined ? null : Number(count)
}

/** The number of calls in the last line of strace's summary. */
export function totalOfStrace(summary: string): number | null {
  const line = /^\s*100[.,]00\s.*\btotal$/m.exec(summary)?.[0]
  // Share, seconds, microseconds a call, calls, and errors where there were any.
  const calls = Number(line?.trim().split(/\s+/)[3])
  return Number.isFinite(calls) ? calls : null
}
