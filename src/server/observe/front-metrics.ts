import { Gauge, type Registry } from 'prom-client'
import { readMetrics } from './read-metrics.ts'

/** A pool of worker threads; every figure but `threads` only grows. */
export interface PoolReading {
  readonly threads: number
  /** Jobs that a thread has begun. */
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

/** Means and shares between two readings. */
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
      share: shareOf(reading.busyS - last.busyS, elapsedS * reading.threads),
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

/**
 * Gauges of the load of a front and of its pools, by slot of the front, since the last look. A front that is
 * being replaced shares the slot with its successor: the larger figure counts.
 */
export function watchFrontLoad(registry: Registry, front: number, read: () => FrontReading): void {
  const gauge = (name: string, help: string, label: 'pool' | null, collect?: () => void) =>
    new Gauge({
      name,
      help,
      labelNames: ['front', ...(label === null ? [] : [label])],
      registers: [registry],
      aggregator: 'max',
      ...(collect === undefined ? {} : { collect }),
    })
  // prom-client collects the gauges in this order: the first one reads for all three.
  const loop = gauge(
    'sluice_front_event_loop_utilization',
    'Fraction of time (0 to 1) that the event loop was busy since the last reading, by front.',
    null,
    () => look(),
  )
  const wait = gauge(
    'sluice_front_pool_wait_seconds',
    'Mean wait in seconds for a worker thread since the last reading, by front and pool: short_jobs or sessions.',
    'pool',
  )
  const busy = gauge(
    'sluice_front_pool_utilization',
    'Fraction of time (0 to 1) that the worker threads were busy since the last reading, by front and pool: short_jobs or sessions.',
    'pool',
  )
  let before = read()
  const look = (): void => {
    const now = read()
    const { loopShare, pools } = frontLoadBetween(before, now)
    loop.set({ front }, loopShare)
    for (const [pool, { waitS, share }] of Object.entries(pools)) {
      wait.set({ front, pool }, waitS)
      busy.set({ front, pool }, share)
    }
    before = now
  }
  watchShortJobs(registry, () => read().shortJobs)
}

/** Counters of the short jobs, over all processes, since the start. */
function watchShortJobs(registry: Registry, read: () => PoolReading): void {
  const { counter } = readMetrics(registry, read)
  counter(
    'sluice_short_jobs_total',
    'Short jobs started (such as parsing a large body or encrypting a secret).',
    ({ begun }) => begun,
  )
  counter(
    'sluice_short_job_wait_seconds_total',
    'Time that short jobs waited for a worker thread, in seconds.',
    ({ waitS }) => waitS,
  )
  counter(
    'sluice_short_job_busy_seconds_total',
    'Busy time of the worker threads for short jobs, in seconds.',
    ({ busyS }) => busyS,
  )
}

/** Limits a share to 0…1: a job that began before the last look counts whole when it ends. */
function shareOf(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole))
}
