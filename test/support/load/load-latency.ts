/** Histograms of milliseconds that keep three digits from a microsecond to two minutes and more. */
import { build, type Histogram } from 'hdr-histogram-js'
import type { LoadLatency, LoadResult } from './load-plan.ts'

const MOST_US = 600_000_000
/** Shares that describe a distribution. */
export const LATENCY_PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100]

export function latencies(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MOST_US,
    numberOfSignificantValueDigits: 3,
  })
}

export function noteMs(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.min(MOST_US, Math.max(1, Math.round(ms * 1_000))))
}

export function latencyOf(histogram: Histogram): LoadLatency {
  const max = histogram.maxValue / 1_000
  // A percentile is the end of its bucket, which lies above the values seen.
  const at = (percentile: number): number => Math.min(max, histogram.getValueAtPercentile(percentile) / 1_000)
  return {
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p99_9: at(99.9),
    max,
    mean: histogram.mean / 1_000,
    byPercent: Object.fromEntries(LATENCY_PERCENTS.map((percent) => [String(percent), at(percent)])),
  }
}

export function latenessOf(histogram: Histogram): LoadResult['generatorLate'] {
  const { p50, p99, max } = latencyOf(histogram)
  return { p50, p99, max }
}
