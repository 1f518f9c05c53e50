import { createHistogram, performance } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import { every, type Repetition } from '../structures/ticks.ts'
import { heapCollector } from './heap-collector.ts'
import { watchMetrics } from './read-metrics.ts'
import { FRONT_PROCESS, PROCESS } from './read-table.ts'

/**
 * Milliseconds of the sampling timer while a front works: a delay is reported too short by at most this much.
 * A timer of 1 ms wakes a process 800 times a second, which is 2 % of a core. Decision.
 */
export const FRONT_RESOLUTION_MS = 5
/**
 * Milliseconds of the sampling timer of any other working process. Callers wait only for the event loop of a
 * front, so the other loops are woken a quarter as often. Decision.
 */
const OTHER_RESOLUTION_MS = 20
/** Nanoseconds in a second. */
const NS_PER_S = 1e9

/** The sampling of a process's event loop. */
export type WatchedLoop = Pick<LoopSampler, 'follow' | 'stop'>

/**
 * Adds CPU, memory and event-loop delay of this process.
 * @param front the slot of a front, which distinguishes its delay from that of others
 */
export function watchProcess(registry: Registry, front: number | null = null): WatchedLoop {
  const loop = new LoopSampler(front === null ? OTHER_RESOLUTION_MS : FRONT_RESOLUTION_MS)
  watchMetrics(registry, front === null ? PROCESS : FRONT_PROCESS, () => {
    const delays = [
      ['50', loop.percentileS(50)],
      ['99', loop.percentileS(99)],
      ['100', loop.maxS],
    ] as const
    loop.reset()
    return { front, delays, cpu: process.cpuUsage(), memory: process.memoryUsage() }
  })
  return loop
}

/** Seconds of delay in a reading of Node's own sampler, which includes the sampling interval; an empty sample (NaN) counts as 0. */
export function delayOf(nanoseconds: number, resolutionMs: number): number {
  return Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NS_PER_S - resolutionMs / 1000) : 0
}

/** Milliseconds between two samples of an idle process, which its timers should hardly wake. Decision. */
const RESTING_SAMPLE_MS = 1_000
/** Milliseconds without work after which a sampler takes rare samples. Decision. */
const SAMPLED_ON_MS = 1_000
/** Rare samples in a row after which the process frees the garbage of its start, or of its work. Decision. */
const COLLECT_AFTER_SAMPLES = 20
/** Nanoseconds in a millisecond. */
const NS_PER_MS = 1e6
/** Range of the histogram in nanoseconds, up to an hour, with a precision of two digits. */
const HISTOGRAM = { lowest: 1, highest: 3.6e12, figures: 2 } as const

/** Work with a begin and an end that the sampler watches. */
export interface FollowedWork {
  /** True while there is work. */
  readonly isRunning: boolean
  /** Called when work begins after a rest, before any part of it has run for long. */
  onBegin: () => void
}

interface LoopSamplerOptions {
  /** Milliseconds between two samples while idle. */
  readonly restingMs?: number
  /** Collects garbage; called once in every idle period. */
  readonly collect?: () => void
  /** Returns the work of the loop since the last call. */
  readonly look?: () => LoopWork
}

/**
 * Samples how late the timers of this process run. While the loop works the samples are dense. While it is
 * idle they are rare: a timer of 5 ms alone takes half a percent of a core. Followed work makes the samples
 * dense before it can block the loop, so that no delay of a call is missed. A pause between two rare samples,
 * for example a garbage collection, is derived from the time that the loop itself counts.
 */
export class LoopSampler {
  readonly #resolutionMs: number
  readonly #restingMs: number
  readonly #collect: () => void
  readonly #delays = createHistogram(HISTOGRAM)
  readonly #look: () => LoopWork
  #work: FollowedWork | null = null
  #samples: Repetition | null = null
  #periodMs = 0
  #lastAt = 0
  #restsAt: number
  #restSamples = 0

  /** @param resolutionMs milliseconds between two samples while the loop works */
  constructor(
    resolutionMs: number,
    { restingMs = RESTING_SAMPLE_MS, collect = heapCollector(), look = loopWork() }: LoopSamplerOptions = {},
  ) {
    this.#resolutionMs = resolutionMs
    this.#restingMs = restingMs
    this.#collect = collect
    this.#look = look
    this.#restsAt = performance.now() + SAMPLED_ON_MS
    this.#every(resolutionMs)
  }

  /** True while the samples are rare. */
  get isResting(): boolean {
    return this.#periodMs !== this.#resolutionMs
  }

  /** Seconds of delay at a percentile of the samples; 0 without samples. */
  percentileS(percentile: number): number {
    return this.#delays.count === 0 ? 0 : this.#delays.percentile(percentile) / NS_PER_MS / 1_000
  }

  /** Seconds of the longest delay; 0 without samples. */
  get maxS(): number {
    return this.#delays.count === 0 ? 0 : this.#delays.max / NS_PER_MS / 1_000
  }

  follow(work: FollowedWork): void {
    this.#work = work
    work.onBegin = () => {
      if (this.#samples === null) return
      // The work may have waited for a pause of the loop to end.
      if (this.isResting) this.#recordStop(this.#look())
      this.#restsAt = performance.now() + SAMPLED_ON_MS
      this.#every(this.#resolutionMs)
    }
  }

  /** Forgets the samples. */
  reset(): void {
    this.#delays.reset()
  }

  stop(): void {
    this.#samples?.stop()
    this.#samples = null
    this.#work = null
  }

  #every(ms: number): void {
    if (ms === this.#periodMs) return
    this.#samples?.stop()
    this.#periodMs = ms
    this.#restSamples = 0
    this.#lastAt = performance.now()
    this.#samples = every(ms, () => this.#sample())
  }

  #sample(): void {
    const now = performance.now()
    const isResting = this.isResting
    const lateMs = now - this.#lastAt - this.#periodMs
    this.#lastAt = now
    if (now < this.#restsAt) return this.#record(lateMs)
    const work = this.#look()
    if (isResting && lateMs < work.stopMs - this.#resolutionMs) this.#recordStop(work)
    else this.#record(lateMs)
    if (this.#work?.isRunning !== true && !work.isBusy) return this.#rest()
    this.#restsAt = now + SAMPLED_ON_MS
    this.#every(this.#resolutionMs)
  }

  /** A pause counts for the least that dense samples would have recorded for it. */
  #recordStop({ stopMs }: LoopWork): void {
    this.#record(stopMs - this.#resolutionMs)
  }

  #record(delayMs: number): void {
    const delayNs = Math.round(delayMs * NS_PER_MS)
    this.#delays.record(Math.min(Math.max(delayNs, HISTOGRAM.lowest), HISTOGRAM.highest))
  }

  #rest(): void {
    this.#every(this.#restingMs)
    if (++this.#restSamples === COLLECT_AFTER_SAMPLES) this.#collect()
  }
}

/** Share of busy time at which an event loop counts as working. */
const WORKING_SHARE = 0.05
/**
 * Turns of a loop between two readings up to which the loop counts as almost idle: an idle front has about ten
 * a second. Decision.
 */
const TURNS_AT_REST_MAX = 64

/** Work of an event loop since the previous reading. */
export interface LoopWork {
  readonly isBusy: boolean
  /**
   * Milliseconds that the loop may have been blocked at once: all of its busy time when it made few turns, 0
   * when it made many. It may be too long by other work, but never too short when the turns were few.
   */
  readonly stopMs: number
}

/** @returns a function that returns the work of this thread's loop since its last call */
export function loopWork(): () => LoopWork {
  let before = performance.eventLoopUtilization()
  let turnsBefore = turnsOf()
  return () => {
    const [now, turns] = [performance.eventLoopUtilization(), turnsOf()]
    const { active, utilization } = performance.eventLoopUtilization(now, before)
    const stopMs = turns - turnsBefore > TURNS_AT_REST_MAX ? 0 : active
    before = now
    turnsBefore = turns
    return { isBusy: utilization > WORKING_SHARE, stopMs }
  }
}

function turnsOf(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}
