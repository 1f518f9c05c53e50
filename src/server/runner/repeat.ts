import type { Log } from '../ports/observe.ts'

/** A piece of housekeeping that comes round. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** What it did, for the log. Rejects when it could not; it is tried again in its next turn. */
  run(): Promise<Readonly<Record<string, number>>>
}

export interface RepeatOptions {
  readonly log: Log
  /** 0 to 1. */
  readonly random: () => number
}

/** Share of the interval by which a turn comes earlier or later, so that nodes do not work in step. */
const JITTER = 0.2

/** Runs a chore now and then again and again; the returned function stops it and waits for a turn under way. */
export function repeat(chore: Chore, { log, random }: RepeatOptions): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const turn = async (): Promise<void> => {
    try {
      const done = await chore.run()
      if (Object.values(done).some((count) => count > 0)) log.info(chore.name, done)
    } catch (cause) {
      log.warn(`${chore.name}_failed`, { cause })
    }
    if (!isStopped) timer = setTimeout(next, chore.everyMs * (1 + JITTER * (2 * random() - 1)))
  }
  let running: Promise<void>
  const next = (): void => {
    running = turn()
  }
  running = turn()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
