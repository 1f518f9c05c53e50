import {
  HISTORY_MINUTES_KEPT,
  HISTORY_QUANTILE_S,
  HISTORY_SECONDS_KEPT,
} from '../../../schemas/operator/history-limits.ts'
import { COLUMN, COLUMNS, DURATIONS_AT } from './columns.ts'
import { bytesOf, Ring, type Points, type RingShape, type SavedRing } from './ring.ts'
import { CALL_BUCKETS, FIRST_OUTPUT_BUCKETS } from '../durations.ts'

const MINUTE_S = 60
/** Times that are kept beyond a range, whose first point may begin before it. */
const MORE_SLOTS = 10

const SECONDS: RingShape = {
  grainS: 1,
  slots: HISTORY_SECONDS_KEPT + MORE_SLOTS,
  from: 0,
  to: DURATIONS_AT,
}
const TENS: RingShape = {
  grainS: HISTORY_QUANTILE_S,
  slots: HISTORY_SECONDS_KEPT / HISTORY_QUANTILE_S + MORE_SLOTS,
  from: DURATIONS_AT,
  to: COLUMNS,
}
const MINUTES: RingShape = {
  grainS: MINUTE_S,
  slots: HISTORY_MINUTES_KEPT + MORE_SLOTS,
  from: 0,
  to: COLUMNS,
}
/** What a saved series and its reader must have alike. */
export const SERIES_LAYOUT = JSON.stringify([
  COLUMN,
  CALL_BUCKETS,
  FIRST_OUTPUT_BUCKETS,
  SECONDS,
  TENS,
  MINUTES,
])
/** Bytes of one series. */
export const SERIES_BYTES = [SECONDS, TENS, MINUTES].reduce((sum, shape) => sum + bytesOf(shape), 0)

/** The rings of a series. */
export type SavedSeries = readonly SavedRing[]

/**
 * The figures of one name: sums by the second and histograms by ten seconds for an hour, and both by the
 * minute for a day.
 */
export class Series {
  readonly #seconds = new Ring(SECONDS)
  readonly #tens = new Ring(TENS)
  readonly #minutes = new Ring(MINUTES)

  add(atS: number, columns: ArrayLike<number>): void {
    for (const ring of this.#rings) ring.add(atS, columns)
  }

  addTo(points: Points): void {
    if (points.grainS >= MINUTE_S) this.#minutes.addTo(points)
    else if (points.from >= DURATIONS_AT) this.#tens.addTo(points)
    else this.#seconds.addTo(points)
  }

  /** Takes over all that another series has, which is empty then. */
  absorb(other: Series): void {
    this.#seconds.absorb(other.#seconds)
    this.#tens.absorb(other.#tens)
    this.#minutes.absorb(other.#minutes)
  }

  save(): SavedSeries {
    return this.#rings.map((ring) => ring.save())
  }

  /** Throws for a series of another shape. */
  restore(saved: SavedSeries): this {
    for (const [nth, ring] of this.#rings.entries()) {
      const one = saved[nth]
      if (one === undefined) throw new Error('the stored series has a different shape')
      ring.restore(one)
    }
    return this
  }

  get #rings(): readonly Ring[] {
    return [this.#seconds, this.#tens, this.#minutes]
  }
}
