/** CPU that does nothing else: what a machine as busy as under transfers does to everybody, whoever serves them. */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { plainEnvironment } from '../../test/support/load.ts'
import { stopServer } from '../../test/support/spawned.ts'

/** Milliseconds of one turn of burning and resting. */
const TURN_MS = 10

export interface Burn {
  /** Cores that are kept busy; a fraction is reached by resting. */
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

/** @param share of each turn that is burnt */
function burn(share: number): void {
  const turn = (): void => {
    const endsAt = performance.now() + TURN_MS * share
    while (performance.now() < endsAt);
    setTimeout(turn, TURN_MS * (1 - share))
  }
  turn()
}

if (!isMainThread && typeof workerData === 'number') burn(workerData)
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cores = Number(process.argv[2])
  const threads = Math.max(1, Math.ceil(cores))
  for (let thread = 0; thread < threads; thread++) {
    new Worker(new URL(import.meta.url), { workerData: Math.min(0.99, cores / threads) })
  }
  process.on('disconnect', () => process.exit(0))
  process.send?.('burning')
}
