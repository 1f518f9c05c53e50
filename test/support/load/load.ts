import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LoadPlan, LoadResult } from './load-plan.ts'

export interface RunningLoad {
  readonly pid: number
  /** Resolves with what was found when the plan's time is over or `stop` was called. */
  readonly result: Promise<LoadResult>
  /** Sends no more; what is in flight is waited for. */
  stop(): Promise<LoadResult>
}

/** Starts a load in a process of its own, so that the test's work does not show up as latency. */
export async function startLoad(plan: LoadPlan): Promise<RunningLoad> {
  const child = fork(fileURLToPath(new URL('./load-process.js', import.meta.url)), {
    env: plainEnvironment(),
    execArgv: [],
    // Rows by the ten thousand: JSON would take longer than the load.
    serialization: 'advanced',
  })
  const result = new Promise<LoadResult>((resolve, reject) => {
    child.on('message', (message: LoadResult | 'started') => {
      if (message !== 'started') resolve(message)
    })
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`the load generator ended early: ${code ?? signal}`)),
    )
  })
  result.catch(() => {})
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', () => reject(new Error('the load generator did not start')))
    child.send(plan)
  })
  const stop = (): Promise<LoadResult> => {
    if (child.connected) child.send('stop')
    return result
  }
  return { pid: child.pid ?? 0, result, stop }
}

export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  return (await startLoad(plan)).result
}

/**
 * The environment without what tap puts into every descendant. Its hook costs CPU that a bench would count,
 * and ends `bin/sluice`, a module without an extension, with ERR_REQUIRE_CYCLE_MODULE.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  dropSpawnHooks()
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:NODE_OPTIONS$|NO_COLOR$|FORCE_COLOR$|TAP|_TAPJS)/.test(name),
    ),
  )
}

/**
 * Where tap's process-on-spawn keeps who changes the environment of a spawn, whatever environment that was
 * given.
 */
const SPAWN_HOOKS = Symbol.for('process-on-spawn@*:singletonId')

function dropSpawnHooks(): void {
  const hooks: unknown = Reflect.get(globalThis, SPAWN_HOOKS)
  if (typeof hooks === 'object' && hooks !== null) Reflect.set(hooks, 'listeners', [])
}
