/**
 * CPU that does nothing else: what a machine as busy as under transfers does to everybody, whoever serves
 * them.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'

/** Milliseconds of one turn of burning or resting. */
const TURN_MS = 2

export interface Burn {
  /** CPU seconds a second; a fraction is reached by resting. */
  readonly cores: number
  /** In a session of its own, as the servers are, or in the bench's, as the generators are. */
  readonly isDetached: boolean
}

/** @returns the way to end it */
export async function startBurner({ cores, isDetached }: Burn): Promise<() => Promise<void>> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [String(cores)], {
    env: plainEnvironment(),
    execArgv: [],
    detached: isDetached,
  })
  await new Promise((resolve) => child.once('message', resolve))
  return () => stopServer(child)
}

/**
 * Burns whenever the process has had less than its share: on a crowded machine it asks for CPU as a server
 * does.
 */
function burn(cores: number): void {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before)
    const now = performance.now()
    const isOwed = (user + system) / 1_000 < cores * (now - startedAt)
    if (isOwed) while (performance.now() < now + TURN_MS);
    setTimeout(turn, isOwed ? 0 : TURN_MS)
  }
  turn()
}

if (!isMainThread && typeof workerData === 'number') burn(workerData)
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cores = Number(process.argv[2])
  const threads = Math.max(1, Math.ceil(cores))
  for (let thread = 0; thread < threads; thread++) new Worker(new URL(import.meta.url), { workerData: cores })
  process.on('disconnect', () => process.exit(0))
  process.send?.('burning')
}
