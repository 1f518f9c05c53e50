import type { Store } from '../../../src/server/store/base/open.ts'
import { processRow, tree } from './process-cpu.ts'

/** CPU seconds so far of the node below a process with its Postgres, whosever child that is. */
export async function nodeCpu(pid: number, { sql }: Store): Promise<() => number> {
  const [backend] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  const postmaster = processRow(backend?.pid ?? 0)?.parent ?? pid
  return () => {
    const rows = new Map([...tree(pid), ...tree(postmaster)].map((row) => [row.pid, row.cpuS]))
    return [...rows.values()].reduce((sum, cpuS) => sum + cpuS, 0)
  }
}

/** What a piece of work comes to, and the cores that were used meanwhile. @param used CPU seconds so far */
export async function coresOf<T>(
  used: () => number,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly cores: number }> {
  const [before, startedAt] = [used(), performance.now()]
  const value = await work()
  return { value, cores: (used() - before) / ((performance.now() - startedAt) / 1_000) }
}
