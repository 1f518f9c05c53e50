/**
 * System calls of a serving thread, counted by strace in a load of their own: strace slows what it counts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import { programOnPath } from '../peers.ts'

/** Milliseconds of the load. */
const LOAD_MS = 1_000

export interface Counted {
  readonly pid: number
  readonly port: number
  readonly request: LoadRequest
  readonly connections: number
}

/** Calls a request; null where strace is not there, or may not look at the process. */
export async function systemCalls({ pid, port, request, connections }: Counted): Promise<number | null> {
  const program = programOnPath('strace')
  if (program === null) return null
  // Without -f the first thread alone is counted: the one that serves.
  const tracer = spawn(program, ['-c', '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  const ended = once(tracer, 'close')
  const attached = new Promise<void>((resolve) => {
    tracer.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (/attached/.test(text)) resolve()
    })
  })
  await Promise.race([attached, ended])
  const load = await runLoad({
    host: '127.0.0.1',
    port,
    connections,
    durationMs: LOAD_MS,
    pace: { kind: 'closed' },
    requests: [request],
  })
  tracer.kill('SIGINT')
  await ended
  const calls = totalOf(text)
  return calls === null || load.requests === 0 ? null : calls / load.requests
}

/** The number of calls in the last line of the summary. */
export function totalOf(summary: string): number | null {
  const line = /^\s*100[.,]00\s.*\btotal$/m.exec(summary)?.[0]
  // Share, seconds, microseconds a call, calls, and errors where there were any.
  const calls = Number(line?.trim().split(/\s+/)[3])
  return Number.isFinite(calls) ? calls : null
}
