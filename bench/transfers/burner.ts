/**
 * Burns CPU for no work: the effect of a machine that is as busy as under transfers, apart from the server's
 * own.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'

/** Milliseconds of one period of burning or resting. */
const TURN_MS = 2

export interface Burn {
  /** CPU seconds a second; the burner rests for a fraction. */
  readonly cores: number
  /** True: in a session of its own, as the servers; false: in the bench's, as the generators. */
  readonly isDetached: boolean
}

/** @returns a function that ends the burner */
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
 * Burns whenever the process has had less than its share: on a crowded machine it competes for CPU as a
 * server does.
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
