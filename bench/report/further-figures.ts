/** Figures of a request that only some scenarios take: their names on disk, and how readers see them. */
export interface FurtherFigure {
  /** Name in `figures` of rows and samples, with the unit at its end. */
  readonly name: string
  readonly title: string
  /** Digits after the point on a terminal; null: a whole number. */
  readonly digits: number | null
}

export const FURTHER_FIGURES: readonly FurtherFigure[] = [
  { name: 'user_us', title: 'user µs', digits: 1 },
  { name: 'system_us', title: 'system µs', digits: 1 },
  { name: 'main_us', title: 'main thread µs', digits: 1 },
  { name: 'threads_us', title: 'other threads µs', digits: 1 },
  { name: 'postgres_us', title: 'Postgres µs', digits: 1 },
  { name: 'redis_us', title: 'Redis µs', digits: 1 },
  { name: 'others_us', title: 'other processes µs', digits: 1 },
  { name: 'heap_bytes', title: 'heap bytes', digits: 0 },
  { name: 'gc_us', title: 'GC µs', digits: 1 },
  { name: 'system_calls', title: 'system calls', digits: 1 },
  { name: 'file_calls', title: 'reads and writes', digits: 1 },
  { name: 'switches', title: 'context switches', digits: 2 },
  { name: 'gap_p50_ms', title: 'gap p50 ms', digits: 1 },
  { name: 'gap_p99_ms', title: 'gap p99 ms', digits: 1 },
  { name: 'stream_p50_ms', title: 'stream p50 ms', digits: 0 },
  { name: 'stream_p99_ms', title: 'stream p99 ms', digits: 0 },
  { name: 'stream_tokens_per_s', title: 'tokens/s of a stream', digits: 1 },
  { name: 'tokens_per_s', title: 'tokens/s', digits: 0 },
  { name: 'calls_per_s', title: 'calls/s', digits: 1 },
  { name: 'good_per_s', title: 'within SLO/s', digits: 1 },
  { name: 'cut', title: 'cut', digits: null },
  { name: 'limited', title: '429', digits: null },
  { name: 'open', title: 'open', digits: null },
]
