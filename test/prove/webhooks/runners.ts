import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../support/load/load.ts'
import type { RunnerOrder } from './process.ts'

const PROCESS = fileURLToPath(new URL('process.js', import.meta.url))

export interface Runners {
  /**
   * Kills one of them in `inMs`, and starts another in its place. @returns whether it was alive until then
   */
  kill(nth: number, inMs: number): Promise<boolean>
  end(): Promise<void>
}

/** Runners that are killed and replaced. */
export async function startRunners(count: number, order: RunnerOrder): Promise<Runners> {
  const start = async (): Promise<ChildProcess> => {
    const child = fork(PROCESS, { env: plainEnvironment(), execArgv: [] })
    child.send(order)
    await once(child, 'message')
    return child
  }
  const running = await Promise.all(Array.from({ length: count }, start))
  return {
    async kill(nth, inMs) {
      const child = running[nth % count]
      if (child === undefined) return false
      const wasKilled = await killed(child, inMs)
      running[nth % count] = await start()
      return wasKilled
    },
    async end() {
      await Promise.all(running.map((child) => killed(child)))
    },
  }
}

/**
 * By a process of its own: the receivers run in this one, whose timers come right after the answers of a
 * turn. A kill from here would always meet a runner that has answers before it and had no moment to read
 * them.
 */
async function killed(child: ChildProcess, inMs = 0): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false
  const exited = once(child, 'exit')
  execFile('sh', ['-c', `sleep ${inMs / 1_000}; kill -9 ${String(child.pid)}`])
  await exited
  return child.signalCode === 'SIGKILL'
}
