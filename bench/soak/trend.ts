/** Trends of a series of readings. */
import { spread } from '../statistics.ts'

/** Milliseconds since the start, and the value at that time. */
export type Reading = readonly [atMs: number, value: number]

const MINUTE_MS = 60_000
/** Share of the readings at either end that `growth` compares. */
const END_SHARE = 0.2

/** Slope by least squares. @returns units a minute; NaN for fewer than two instants */
export function slopePerMinute(readings: readonly Reading[]): number {
  const mean = (at: 0 | 1): number =>
    readings.reduce((sum, reading) => sum + reading[at], 0) / readings.length
  const [meanAt, meanValue] = [mean(0), mean(1)]
  let [together, alone] = [0, 0]
  for (const [at, value] of readings) {
    together += (at - meanAt) * (value - meanValue)
    alone += (at - meanAt) ** 2
  }
  return alone === 0 ? Number.NaN : (together / alone) * MINUTE_MS
}

/** The median of the last fifth minus that of the first: a single outlier has no effect. */
export function growth(readings: readonly Reading[]): number {
  const count = Math.max(1, Math.round(readings.length * END_SHARE))
  const median = (part: readonly Reading[]): number => spread(part.map(([, value]) => value)).median
  return median(readings.slice(-count)) - median(readings.slice(0, count))
}

export function after(readings: readonly Reading[], fromMs: number): readonly Reading[] {
  return readings.filter(([at]) => at >= fromMs)
}
