import type { Log } from '../ports/observe.ts'

export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Receives a function that starts the next run now, or right after the current run. */
  readonly onRequest?: (runNow: () => void) => unknown
  /** @returns counts for the log. Rejects when the run failed; the next run retries */
  run(): Promise<Readonly<Record<string, number>>>
}

export interface RepeatOptions {
  readonly log: Log
  /** 0 to 1. */
  readonly random: () => number
}

/** Share of the interval by which a run starts earlier or later, so that nodes do not run at the same time. */
const JITTER = 0.2
/** Milliseconds before the first run. */
const FIRST_MS = 5_000

/** Runs a chore periodically. @returns a function that stops the chore and waits for the current run */
export function repeat(chore: Chore, { log, random }: RepeatOptions): () => Promise<void> {
  let timer: NodeJS.Timeout
  let isStopped = false
  let isRunning = false
  let isRequested = false
  let running = Promise.resolve()
  const wait = (ms: number): void => {
    timer = setTimeout(begin, ms * (1 + JITTER * (2 * random() - 1)))
  }
  const begin = (): void => {
    running = runOnce()
  }
  const runOnce = async (): Promise<void> => {
    isRunning = true
    isRequested = false
    try {
      const done = await chore.run()
      if (Object.values(done).some((count) => count > 0)) log.info(chore.name, done)
    } catch (cause) {
      log.warn(`${chore.name}_failed`, { cause })
    }
    isRunning = false
    if (isStopped) return
    if (isRequested) begin()
    else wait(chore.everyMs)
  }
  chore.onRequest?.(() => {
    isRequested = true
    if (isStopped || isRunning) return
    clearTimeout(timer)
    begin()
  })
  // The first run waits, since a starting node has more urgent work.
  wait(Math.min(chore.everyMs, FIRST_MS))
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
