import { CALL_BUCKETS, FIRST_OUTPUT_BUCKETS } from '../durations.ts'
import { COLUMN, COLUMNS, DURATIONS_AT } from './columns.ts'
import {
  HISTORY_MINUTES_KEPT,
  HISTORY_QUANTILE_S,
  HISTORY_SECONDS_KEPT,
} from '../../../schemas/operator/admin-port-limits.ts'

const MINUTE_S = 60
/** Slots that are kept beyond a range, whose first point may begin earlier. */
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
/** The properties that a saved series and its reader must have in common. */
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

export type SavedSeries = readonly SavedRing[]

/** The figures of one name: sums by the second and histograms by ten seconds for an hour, and both by the minute for a day. */
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

  /** Adds all figures of another series, which is empty afterwards. */
  absorb(other: Series): void {
    this.#seconds.absorb(other.#seconds)
    this.#tens.absorb(other.#tens)
    this.#minutes.absorb(other.#minutes)
  }

  save(): SavedSeries {
    return this.#rings.map((ring) => ring.save())
  }

  /** Throws if the saved series has another shape. */
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

/** The length of a slot, and the number of slots that a ring keeps. */
interface RingShape {
  readonly grainS: number
  readonly slots: number
  /** The first column that is stored, and the one after the last. */
  readonly from: number
  readonly to: number
}

interface SavedRing {
  readonly newest: number
  readonly cells: Float32Array
}

/** Bytes of a ring. */
function bytesOf({ slots, from, to }: RingShape): number {
  return slots * (to - from) * Float32Array.BYTES_PER_ELEMENT
}

/** Points to which figures are added: `cells` has the columns `from` up to `to` of each point. */
interface Points {
  readonly sinceS: number
  readonly grainS: number
  readonly from: number
  readonly to: number
  readonly cells: Float64Array
}

/** Sums of the last slots of one length, in one typed array of a fixed size. */
class Ring {
  readonly #shape: RingShape
  readonly #width: number
  readonly #cells: Float32Array
  /** Number of the newest slot: its first second divided by its length. */
  #newest = 0

  constructor(shape: RingShape) {
    this.#shape = shape
    this.#width = shape.to - shape.from
    this.#cells = new Float32Array(shape.slots * this.#width)
  }

  /** @param atS second since 1970 in which the figures were counted */
  add(atS: number, columns: ArrayLike<number>): void {
    const slot = Math.floor(atS / this.#shape.grainS)
    this.#advance(slot)
    const row = this.#rowOf(slot)
    for (let at = 0; at < this.#width; at++) {
      const more = columns[this.#shape.from + at] ?? 0
      if (more !== 0) this.#cells[row + at] = (this.#cells[row + at] ?? 0) + more
    }
  }

  /** Adds to each point the sums of its slots; a point shorter than a slot gets the whole slot. */
  addTo({ sinceS, grainS, from, to, cells }: Points): void {
    const width = to - from
    const { grainS: own } = this.#shape
    for (let point = 0; point * width < cells.length; point++) {
      const startS = sinceS + point * grainS
      const first = Math.floor(startS / own)
      const end = Math.max(first + 1, Math.floor((startS + grainS) / own))
      for (let slot = first; slot < end; slot++) {
        if (!this.#has(slot)) continue
        const row = this.#rowOf(slot) + from - this.#shape.from
        for (let at = 0; at < width; at++)
          cells[point * width + at] = (cells[point * width + at] ?? 0) + (this.#cells[row + at] ?? 0)
      }
    }
  }

  /** Adds all sums of another ring of this shape. */
  absorb(other: Ring): void {
    const newest = Math.max(this.#newest, other.#newest)
    this.#advance(newest)
    other.#advance(newest)
    for (const [at, sum] of other.#cells.entries()) {
      if (sum !== 0) this.#cells[at] = (this.#cells[at] ?? 0) + sum
    }
    other.clear()
  }

  save(): SavedRing {
    return { newest: this.#newest, cells: this.#cells }
  }

  /** Throws if the saved ring has another shape. */
  restore({ newest, cells }: SavedRing): void {
    if (cells.length !== this.#cells.length || !Number.isSafeInteger(newest))
      throw new Error('the stored history has a different shape')
    this.#cells.set(cells)
    this.#newest = newest
  }

  clear(): void {
    this.#cells.fill(0)
    this.#newest = 0
  }

  #has(slot: number): boolean {
    return slot <= this.#newest && slot > this.#newest - this.#shape.slots
  }

  #rowOf(slot: number): number {
    return (slot % this.#shape.slots) * this.#width
  }

  #advance(slot: number): void {
    if (slot <= this.#newest && this.#has(slot)) return
    const gone = slot - this.#newest
    // If the clock was set back by more than the ring keeps, a new history begins.
    if (this.#newest > 0 && (gone < 0 || gone >= this.#shape.slots)) this.#cells.fill(0)
    else if (this.#newest > 0)
      for (let next = this.#newest + 1; next <= slot; next++) {
        const row = this.#rowOf(next)
        this.#cells.fill(0, row, row + this.#width)
      }
    this.#newest = slot
  }
}
