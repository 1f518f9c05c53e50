import type { Log } from '../ports/observe.ts'

/** A piece of housekeeping that comes round. */
export interface Chore {
  readonly name: string
  readonly everyMs: number
  /** Is given what makes its next turn come now, or behind the one under way. */
  readonly onAsked?: (comeRound: () => void) => unknown
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
/** Milliseconds before the first turn. */
const FIRST_MS = 5_000

/** Runs a chore again and again; the returned function stops it and waits for a turn under way. */
export function repeat(chore: Chore, { log, random }: RepeatOptions): () => Promise<void> {
  let timer: NodeJS.Timeout
  let isStopped = false
  let isTurning = false
  let isAsked = false
  let running = Promise.resolve()
  const wait = (ms: number): void => {
    timer = setTimeout(begin, ms * (1 + JITTER * (2 * random() - 1)))
  }
  const begin = (): void => {
    running = turn()
  }
  const turn = async (): Promise<void> => {
    isTurning = true
    isAsked = false
    try {
      const done = await chore.run()
      if (Object.values(done).some((count) => count > 0)) log.info(chore.name, done)
    } catch (cause) {
      log.warn(`${chore.name}_failed`, { cause })
    }
    isTurning = false
    if (isStopped) return
    if (isAsked) begin()
    else wait(chore.everyMs)
  }
  chore.onAsked?.(() => {
    isAsked = true
    if (isStopped || isTurning) return
    clearTimeout(timer)
    begin()
  })
  // Not at once: a node that comes up has better things to do.
  wait(Math.min(chore.everyMs, FIRST_MS))
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
