import { endOnCrash, endWith } from './observe/crash.ts'
import { heapCollector } from './observe/heap-collector.ts'
import { createLog } from './observe/log.ts'
import { openChannel } from './supervisor/fleet/channel.ts'
import type { Role } from './supervisor/fleet/ipc.ts'

/** Milliseconds after which a role that was loaded ahead collects the garbage of loading, a third of its memory. */
const AHEAD_COLLECT_MS = 1_000

// Each role loads only its own modules: a runner that also loads the front end starts a third of a second
// later.

/** Runs a node until a signal ends it. @returns the exit code; throws `ConfigInvalid` or `StartRefused` */
export async function serve(): Promise<number> {
  const role = await import('./main/serve.ts')
  return role.serve()
}

/** Runs one forked role in this process, which ends with its supervisor. */
export async function runRole(role: Role): Promise<void> {
  // This log is used until the role has its assignment, which also lists the secrets to redact.
  endOnCrash(createLog({ level: 'error', base: { role, pid: process.pid } }))
  const channel = openChannel()
  try {
    const run = await (role === 'front'
      ? import('./main/front.ts').then((front) => front.runFront)
      : import('./main/runner.ts').then((runner) => runner.runRunner))
    const collecting = setTimeout(heapCollector(), AHEAD_COLLECT_MS)
    const part = await channel.start
    clearTimeout(collecting)
    // Process lists show this title: a spare becomes a front here.
    process.title = `sluice ${role} ${part.slot}`
    await run(part, channel)
  } catch (problem) {
    channel.tell({ kind: 'failed', reason: problem instanceof Error ? problem.message : String(problem) })
    endWith(problem)
  }
}
