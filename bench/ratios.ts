import { ratioRecord, type RatioMetric, type RatioRecord, type ResultRow } from './record.ts'
import { spread, type Spread } from './statistics.ts'

/** Ratios of one subject's row over each other row of the same case. */
export function ratiosOver(
  rows: readonly ResultRow[],
  over: string,
  metrics: readonly RatioMetric[],
): readonly RatioRecord[] {
  return rows
    .filter((row) => row.subject === over)
    .flatMap((ours) => {
      const others = rows.filter((row) => row.case === ours.case && row.subject !== over)
      return others.flatMap((theirs) => metrics.flatMap((metric) => ratioRecord(metric, ours, theirs) ?? []))
    })
}

/** A ratio inside each repeat: a slower machine slowed both sides. */
export function eachRatio<T>(over: readonly T[], under: readonly T[], read: (one: T) => number): Spread {
  return spread(
    over.flatMap((one, at) => {
      const other = under[at]
      return other === undefined ? [] : [read(one) / read(other)]
    }),
  )
}
