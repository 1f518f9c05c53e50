/** What the size of a node costs. */
import { checkRecord, ratioRecord, type CheckRecord, type RatioRecord, type ResultRow } from '../record.ts'
import { spread } from '../statistics.ts'
import type { Cell } from './cells.ts'

/** Issue 8, acceptance 5: less than 10 % more. */
const WARM_RATIO_MAX = 1.1
/**
 * A first call for an object over one for an object that is known: a look-up in Postgres by its key, or a walk over the
 * catalogue, and no more than that. Decision.
 */
const COLD_RATIO_MAX = 10
/** Milliseconds of the median first call. Decision. */
const COLD_P50_MS_MAX = 100

export interface CellRows {
  readonly cell: Cell
  readonly large: ResultRow
  /** Null where the small node has too few objects. */
  readonly small: ResultRow | null
}

export function sizeRatios(found: readonly CellRows[]): readonly RatioRecord[] {
  return found.flatMap(({ large, small }) => (small === null ? [] : (ratioRecord('cpu_us_per_request', large, small) ?? [])))
}

/** @param warmTwins case of the warm cell that a cold one is compared with, by the case of the cold one */
export function sizeChecks(found: readonly CellRows[], warmTwins: Readonly<Record<string, string>>): readonly CheckRecord[] {
  return found.flatMap(({ cell, large, small }): readonly CheckRecord[] => {
    if (cell.warmth === 'warm' && small !== null) return [over(`${cell.name}: CPU of the large node over that of the small one`, large, small, WARM_RATIO_MAX)]
    const twin = found.find((one) => one.cell.name === warmTwins[cell.name])?.large
    if (cell.warmth === 'warm' || twin === undefined || large.latency_us === null) return []
    const { p50 } = large.latency_us
    const ms = { median: p50.median / 1e3, min: p50.min / 1e3, max: p50.max / 1e3 }
    return [
      over(`${cell.name}: CPU over that of ${twin.case}`, large, twin, COLD_RATIO_MAX),
      checkRecord(`${cell.name}: p50 in ms`, ms, { bound: { atMost: COLD_P50_MS_MAX }, rows: [large] }),
    ]
  })
}

function over(text: string, above: ResultRow, below: ResultRow, atMost: number): CheckRecord {
  const ratios = above.samples.flatMap((one, at) => {
    const other = below.samples[at]
    return other === undefined ? [] : [one.cpu_us_per_request / other.cpu_us_per_request]
  })
  return checkRecord(text, spread(ratios), { bound: { atMost }, rows: [above, below] })
}
