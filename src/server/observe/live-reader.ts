import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { BreakerReading } from '../ports/observe.ts'
import type { MoneyReading } from '../ports/money/money.ts'
import type { DeliveryCounts } from '../ports/webhooks/webhooks.ts'
import type { Durations, Tally } from './durations.ts'
import type { FrontReading } from './front-metrics.ts'
import { delayOf, FRONT_RESOLUTION_MS } from './process-metrics.ts'
import type { StreamsReading } from './stream-metrics.ts'
import type { HeldVideoState } from '../ports/videos/video-work.ts'

/** Milliseconds without a reading after which the reader stops sampling the delay of the loop. Decision. */
const LAPSE_MS = 5_000
/** Lowest status of a refused call. */
const REFUSED_FROM = 400
/** Lowest status of a failed call. */
const FAILED_FROM = 500

/** Finished calls of one operation since the start, by bucket of their duration (`CALL_BUCKETS`). */
export interface CallsReading {
  readonly operation: string
  readonly counts: readonly number[]
  readonly refused: number
  readonly failed: number
}

/** Attempts at one provider since the start. */
export interface AttemptsReading {
  readonly provider: string
  readonly attempts: number
  readonly failed: number
}

/** Delay of the event loop since the previous reading. */
export interface LoopDelay {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/**
 * Figures of one process for the live view: plain data, fit for IPC, and a small part of the metrics.
 * Counters count since the start: the reader computes differences, so that several readers do not disturb
 * each other.
 */
export interface LiveReading {
  /** Monotonic milliseconds of the process. */
  readonly atMs: number
  readonly cpuS: number
  readonly memoryBytes: number
  readonly inFlight: number
  readonly calls: readonly CallsReading[]
  /** Calls answered with 4xx, by failure code. */
  readonly refusals: Readonly<Record<string, number>>
  readonly providers: readonly AttemptsReading[]
  /** Providers whose circuit breaker has ever opened; only for a front. */
  readonly breakers: readonly BreakerReading[]
  /** Figures of a front; null for other roles. */
  readonly front: { readonly slot: number; readonly delay: LoopDelay; readonly load: FrontReading } | null
  /** Null for a process without metrics of streams. */
  readonly streams: StreamsReading | null
  readonly money: MoneyReading | null
  /** Video jobs that a runner holds, by state; null for other roles. */
  readonly heldVideos: Readonly<Record<HeldVideoState, number>> | null
  readonly deliveries: DeliveryCounts | null
}

/** Readings of modules that are created later than the metrics. */
export interface LiveSources {
  readonly inFlight?: () => number
  readonly front?: { readonly slot: number; readonly load: () => FrontReading }
  readonly breakers?: () => readonly BreakerReading[]
  readonly streams?: () => StreamsReading
  readonly money?: () => MoneyReading
  readonly heldVideos?: () => Readonly<Record<HeldVideoState, number>>
  /** Null before the first count. */
  readonly deliveries?: () => DeliveryCounts | null
}

interface Attempts {
  readonly tally: Tally
  readonly isFailed: (labels: Readonly<Record<string, string>>) => boolean
}

/** Reads one process for the live view. It samples nothing before the first reading and stops some time after the last. */
export class LiveReader {
  readonly #calls: Tally
  readonly #durations: Durations
  readonly #attempts: Attempts[] = []
  readonly #loop = new LoopWatch()
  #sources: LiveSources = {}

  constructor({ calls, durations }: { readonly calls: Tally; readonly durations: Durations }) {
    this.#calls = calls
    this.#durations = durations
  }

  add(sources: LiveSources): void {
    this.#sources = { ...this.#sources, ...sources }
  }

  /** @param tally with a label `provider` */
  attempts(tally: Tally, isFailed: Attempts['isFailed']): void {
    this.#attempts.push({ tally, isFailed })
  }

  read(): LiveReading {
    const { inFlight, front, streams, money, heldVideos, deliveries } = this.#sources
    const { user, system } = process.cpuUsage()
    return {
      atMs: performance.now(),
      cpuS: (user + system) / 1e6,
      memoryBytes: process.memoryUsage.rss(),
      inFlight: inFlight?.() ?? 0,
      calls: this.readCalls(),
      refusals: this.#readRefusals(),
      providers: this.readAttempts(),
      breakers: this.readBreakers(),
      front: front === undefined ? null : { slot: front.slot, delay: this.#loop.read(), load: front.load() },
      streams: streams?.() ?? null,
      money: money?.() ?? null,
      heldVideos: heldVideos?.() ?? null,
      deliveries: deliveries?.() ?? null,
    }
  }

  close(): void {
    this.#loop.rest()
  }

  readBreakers(): readonly BreakerReading[] {
    return this.#sources.breakers?.() ?? []
  }

  readCalls(): readonly CallsReading[] {
    const ends = new Map<string, { refused: number; failed: number }>()
    for (const { labels, count } of this.#calls.counts) {
      const status = Number(labels['status'])
      if (status < REFUSED_FROM) continue
      const { operation = '' } = labels
      const end = ends.get(operation) ?? { refused: 0, failed: 0 }
      end[status < FAILED_FROM ? 'refused' : 'failed'] += count
      ends.set(operation, end)
    }
    return Array.from(this.#durations.series, ({ label, counts }) => ({
      operation: label,
      counts: [...counts],
      ...(ends.get(label) ?? NONE),
    }))
  }

  #readRefusals(): Readonly<Record<string, number>> {
    const found: Record<string, number> = {}
    for (const {
      labels: { status, failure = '' },
      count,
    } of this.#calls.counts) {
      if (Number(status) >= REFUSED_FROM && Number(status) < FAILED_FROM && failure !== '')
        found[failure] = (found[failure] ?? 0) + count
    }
    return found
  }

  readAttempts(): readonly AttemptsReading[] {
    const found = new Map<string, { attempts: number; failed: number }>()
    for (const { tally, isFailed } of this.#attempts) {
      for (const { labels, count } of tally.counts) {
        const { provider = '' } = labels
        const sums = found.get(provider) ?? { attempts: 0, failed: 0 }
        sums.attempts += count
        if (isFailed(labels)) sums.failed += count
        found.set(provider, sums)
      }
    }
    return Array.from(found, ([provider, sums]) => ({ provider, ...sums }))
  }
}

const NONE = { refused: 0, failed: 0 } as const

/**
 * Samples the delay of the event loop while there is a reader. The metrics have a separate sampler: each
 * reading resets its sampler, and the two are read at different times.
 */
class LoopWatch {
  readonly #loop = monitorEventLoopDelay({ resolution: FRONT_RESOLUTION_MS })
  #lapse: NodeJS.Timeout | null = null

  /** The delay since the last reading; zeros at the first. */
  read(): LoopDelay {
    const ms = (nanoseconds: number): number => delayOf(nanoseconds, FRONT_RESOLUTION_MS) * 1_000
    const delay = {
      p50Ms: ms(this.#loop.percentile(50)),
      p99Ms: ms(this.#loop.percentile(99)),
      maxMs: ms(this.#loop.max),
    }
    this.#loop.reset()
    this.#loop.enable()
    if (this.#lapse === null) this.#lapse = setTimeout(() => this.rest(), LAPSE_MS).unref()
    else this.#lapse.refresh()
    return delay
  }

  rest(): void {
    if (this.#lapse !== null) clearTimeout(this.#lapse)
    this.#lapse = null
    this.#loop.disable()
    this.#loop.reset()
  }
}
