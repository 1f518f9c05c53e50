/**
 * Whether latencies gather at one place, as they do when a timer of the kernel, not work, decides when a
 * packet leaves.
 */
import type { Histogram } from 'hdr-histogram-js'

/** Half of the width of the place that is looked at. */
const HALF_MS = 5
/** Of all requests: a smaller share is not a cluster. */
const SHARE_MIN = 0.03
/** How many times as many as before it: a crowded machine fills both alike, or has fewer the later. */
const OVER_BEFORE = 2

export interface Cluster {
  readonly count: number
  readonly before: number
  readonly after: number
  readonly isCluster: boolean
}

/** Counts what lies within 5 ms of a place, and in as wide a place on each side of it. */
export function clusterAt(histogram: Histogram, ms: number): Cluster {
  const within = (from: number): number =>
    countBelow(histogram, from + 2 * HALF_MS) - countBelow(histogram, from)
  const [before, count, after] = [within(ms - 3 * HALF_MS), within(ms - HALF_MS), within(ms + HALF_MS)]
  const isCluster = count > SHARE_MIN * histogram.totalCount && count > OVER_BEFORE * before && count > after
  return { count, before, after, isCluster }
}

/** Of a histogram of microseconds: how many of its values, in their order, lie below, by halving. */
function countBelow(histogram: Histogram, ms: number): number {
  const count = histogram.totalCount
  let [least, most] = [0, count]
  while (least < most) {
    const middle = Math.floor((least + most) / 2)
    if (histogram.getValueAtPercentile(((middle + 0.5) / count) * 100) < ms * 1_000) least = middle + 1
    else most = middle
  }
  return least
}
