/** Readings of processes for tests of the live view. */
import type { LiveReading } from '../../../src/server/observe/live-reader.ts'
import type { FrontReading, PoolReading } from '../../../src/server/observe/front-metrics.ts'
import type { MoneyReading } from '../../../src/server/ports/money/money.ts'
import { CALL_BUCKETS } from '../../../src/server/observe/durations.ts'

const POOL: PoolReading = { threads: 1, begun: 0, waitS: 0, busyS: 0 }
export const FRONT_LOAD: FrontReading = {
  loop: { active: 0, idle: 0 },
  shortJobs: POOL,
  sessions: { ...POOL, threads: 2 },
  nowMs: 0,
}
export const MONEY: MoneyReading = {
  takes: 0,
  open: 0,
  overruns: 0,
  spentNano: 0,
  refusals: { credit: 0, key_limit: 0, budget: 0, unbounded: 0, unavailable: 0, busy: 0 },
  waiting: 0,
  heldNano: 0,
  lends: 0,
  lendS: 0,
  flushes: 0,
  flushedEntries: 0,
  flushLagS: 0,
  giveBacks: 0,
  isJournalBroken: false,
}

/** A process that has done nothing yet. */
export function readingAt(atMs: number, more: Partial<LiveReading> = {}): LiveReading {
  return {
    atMs,
    cpuS: 0,
    memoryBytes: 0,
    inFlight: 0,
    calls: [],
    refusals: {},
    providers: [],
    breakers: [],
    front: null,
    streams: null,
    money: null,
    heldVideos: null,
    deliveries: null,
    ...more,
  }
}

/** So many calls of one operation, by the index of their bucket. */
export function callsOf(
  operation: string,
  counts: Readonly<Record<number, number>>,
  ends: { refused?: number; failed?: number } = {},
): LiveReading['calls'][number] {
  const all = Array.from({ length: CALL_BUCKETS.length + 1 }, (_, at) => counts[at] ?? 0)
  return { operation, counts: all, refused: 0, failed: 0, ...ends }
}
