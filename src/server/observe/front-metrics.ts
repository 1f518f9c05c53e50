/** A pool of worker threads; all figures except `threads` only increase. */
export interface PoolReading {
  readonly threads: number
  readonly begun: number
  /** Seconds that jobs waited for a thread. */
  readonly waitS: number
  readonly busyS: number
}

export interface FrontReading {
  /** Milliseconds since the start in which the event loop had work, and had none. */
  readonly loop: { readonly active: number; readonly idle: number }
  readonly shortJobs: PoolReading
  readonly sessions: PoolReading
  /** Monotonic milliseconds. */
  readonly nowMs: number
}

export interface FrontLoadBetween {
  readonly loopShare: number
  readonly pools: Readonly<Record<PoolName, { readonly waitS: number; readonly share: number }>>
}

export type PoolName = 'short_jobs' | 'sessions'

export function frontLoadBetween(before: FrontReading, now: FrontReading): FrontLoadBetween {
  const elapsedS = (now.nowMs - before.nowMs) / 1000
  const active = now.loop.active - before.loop.active
  const pool = (reading: PoolReading, last: PoolReading) => {
    const begun = reading.begun - last.begun
    return {
      waitS: begun === 0 ? 0 : (reading.waitS - last.waitS) / begun,
      share: shareOf(reading.busyS - last.busyS, elapsedS * Math.max(reading.threads, last.threads)),
    }
  }
  return {
    loopShare: shareOf(active, active + now.loop.idle - before.loop.idle),
    pools: {
      short_jobs: pool(now.shortJobs, before.shortJobs),
      sessions: pool(now.sessions, before.sessions),
    },
  }
}

/** @returns a function that reads the load since its last call */
export function frontLoads(
  front: number,
  read: () => FrontReading,
): () => FrontLoadBetween & { readonly front: number; readonly shortJobs: PoolReading } {
  let before = read()
  return () => {
    const now = read()
    const between = frontLoadBetween(before, now)
    before = now
    return { ...between, front, shortJobs: now.shortJobs }
  }
}

/** Limits a share to 0…1: a job that began before the last reading counts in full when it ends. */
function shareOf(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole))
}
