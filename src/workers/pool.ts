import { runTask } from './tasks.ts'
import { openThreads, type PoolOptions, type Pools } from './thread-pools.ts'

/** Opens the worker threads of a process that also runs prompt jobs on its event loop. */
export function openPools(options: PoolOptions): Pools {
  return openThreads(options, runTask)
}
