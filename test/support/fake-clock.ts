import type { VideoClock } from '../../src/server/runner/videos/engine-deps.ts'

/**
 * A clock that a test moves; what waits for it runs in the order of time, and all that follows from it before
 * the next.
 */
export interface FakeClock extends VideoClock {
  /** Runs everything that becomes due within so many milliseconds. */
  advance(ms: number): Promise<void>
  /** The process stands still: time passes, and nothing runs. */
  stall(ms: number): void
  /** Timers that wait. */
  readonly waiting: number
}

export function fakeClock(startMs = 1_000): FakeClock {
  let now = startMs
  let next = 0
  const timers = new Map<number, { readonly at: number; readonly run: () => void }>()
  const earliest = (): [number, { readonly at: number; readonly run: () => void }] | null => {
    let found: [number, { readonly at: number; readonly run: () => void }] | null = null
    for (const entry of timers) if (found === null || entry[1].at < found[1].at) found = entry
    return found
  }
  return {
    now: () => now,
    after(ms, run) {
      const id = next++
      timers.set(id, { at: now + Math.max(0, ms), run })
      return () => void timers.delete(id)
    },
    atNext(ms, run) {
      return this.after(ms - (now % ms), run)
    },
    async advance(ms) {
      const end = now + ms
      await settle()
      for (let timer = earliest(); timer !== null && timer[1].at <= end; timer = earliest()) {
        timers.delete(timer[0])
        now = Math.max(now, timer[1].at)
        timer[1].run()
        await settle()
      }
      now = Math.max(now, end)
    },
    stall(ms) {
      now += ms
    },
    get waiting() {
      return timers.size
    },
  }
}

/**
 * Promises of ours resolve one after another: as many turns of the loop as the longest chain of them is long
 * is too many by far.
 */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}
