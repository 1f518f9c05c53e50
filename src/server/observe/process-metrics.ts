import { Counter, Gauge, type Registry } from 'prom-client'
import { LoopSampler } from './loop-sampler.ts'

/**
 * Milliseconds of the sampling timer while a front works: a delay is reported too short by at most this much.
 * A timer of 1 ms wakes a process 800 times a second, which is 2 % of a core. Decision.
 */
export const FRONT_RESOLUTION_MS = 5
/**
 * Milliseconds of the sampling timer of a runner that works. Callers wait for the loop of a front only: the
 * other loops are woken a quarter as often. Decision.
 */
const OTHER_RESOLUTION_MS = 20
/** Nanoseconds in a second. */
const NS_PER_S = 1e9

/** The sampling of a process' event loop. */
export type WatchedLoop = Pick<LoopSampler, 'follow' | 'stop'>

/**
 * Adds CPU, memory and event-loop delay of this process.
 * @param front the slot of a front, which tells its delay apart from that of others
 */
export function watchProcess(registry: Registry, front: number | null = null): WatchedLoop {
  const registers = [registry]
  const loop = new LoopSampler(front === null ? OTHER_RESOLUTION_MS : FRONT_RESOLUTION_MS)
  new Gauge({
    name: 'sluice_event_loop_delay_seconds',
    help: 'Event loop delay in seconds since the last reading, by percentile: the maximum over all processes.',
    labelNames: ['percentile'],
    registers,
    aggregator: 'max',
    collect() {
      for (const [percentile, seconds] of [
        ['50', loop.percentileS(50)],
        ['99', loop.percentileS(99)],
        ['100', loop.maxS],
      ] as const) {
        this.set({ percentile }, seconds)
        ofFront?.set({ front: front ?? 0, percentile }, seconds)
      }
      loop.reset()
    },
  })
  // prom-client collects this gauge after the one above, which sets it.
  const ofFront =
    front === null
      ? null
      : new Gauge({
          name: 'sluice_front_event_loop_delay_seconds',
          help: 'Event loop delay in seconds since the last reading, by front and percentile.',
          labelNames: ['front', 'percentile'],
          registers,
          aggregator: 'max',
        })
  let before = { user: 0, system: 0 }
  new Counter({
    name: 'process_cpu_seconds_total',
    help: "CPU seconds used by the node's processes, by mode: user or system.",
    labelNames: ['mode'],
    registers,
    collect() {
      const now = process.cpuUsage()
      this.inc({ mode: 'user' }, (now.user - before.user) / 1e6)
      this.inc({ mode: 'system' }, (now.system - before.system) / 1e6)
      before = now
    },
  })
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: "Resident memory of the node's processes, in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: 'sluice_heap_bytes',
    help: "JavaScript heap used by the node's processes, in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed)
    },
  })
  return loop
}

/**
 * Seconds of delay in a reading of Node's own sampler, which includes the sampling interval; an empty sample
 * (NaN) reads 0.
 */
export function delayOf(nanoseconds: number, resolutionMs: number): number {
  return Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NS_PER_S - resolutionMs / 1000) : 0
}
