/** Findings on the cost of a node's size. */
import { eachRatio } from '../ratios.ts'
import { checkRecord, ratioRecord, type CheckRecord, type RatioRecord, type ResultRow } from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Cell } from './cells.ts'

/** Bound for a warm call of a full node over that of an empty node: 10 % more. */
const WARM_RATIO_MAX = 1.1
/**
 * Bound for a first call for an object at any size: a lookup in Postgres by its key costs a tenth of it, a
 * walk over the texts of 100,000 models a half. Microseconds of CPU. Decision.
 */
const COLD_CPU_US_MAX = 10_000
/** Milliseconds of the median first call under load on every connection. Decision. */
const COLD_P50_MS_MAX = 250

export interface CellRows {
  readonly cell: Cell
  readonly large: ResultRow
  /** Null where the small node has too few objects. */
  readonly small: ResultRow | null
}

export function sizeRatios(found: readonly CellRows[]): readonly RatioRecord[] {
  return found.flatMap(({ large, small }) =>
    small === null ? [] : (ratioRecord('cpu_us_per_request', large, small) ?? []),
  )
}

export function sizeChecks(found: readonly CellRows[]): readonly CheckRecord[] {
  return found.flatMap(({ cell, large, small }): readonly CheckRecord[] => {
    if (cell.warmth === 'warm') {
      return small === null
        ? []
        : [
            over(
              `${cell.name}: CPU of the large node over that of the small one`,
              large,
              small,
              WARM_RATIO_MAX,
            ),
          ]
    }
    const p50 = large.latency_us?.p50
    const within = (text: string, of: Spread, atMost: number): CheckRecord =>
      checkRecord(text, of, { bound: { atMost }, rows: [large] })
    return [
      within(`${cell.name}: CPU µs a request`, large.cpu_us_per_request, COLD_CPU_US_MAX),
      ...(p50 === undefined
        ? []
        : [
            within(
              `${cell.name}: p50 in ms`,
              { median: p50.median / 1e3, min: p50.min / 1e3, max: p50.max / 1e3 },
              COLD_P50_MS_MAX,
            ),
          ]),
    ]
  })
}

function over(text: string, above: ResultRow, below: ResultRow, atMost: number): CheckRecord {
  return checkRecord(
    text,
    eachRatio(above.samples, below.samples, (one) => one.cpu_us_per_request),
    { bound: { atMost }, rows: [above, below] },
  )
}
