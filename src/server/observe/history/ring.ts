/** Times of one length, of which a ring keeps the last. */
export interface RingShape {
  readonly grainS: number
  readonly slots: number
  /** The first column that is kept, and the one behind the last. */
  readonly from: number
  readonly to: number
}

/** A ring as plain data. */
export interface SavedRing {
  readonly newest: number
  readonly cells: Float32Array
}

/** Bytes of a ring. */
export function bytesOf({ slots, from, to }: RingShape): number {
  return slots * (to - from) * Float32Array.BYTES_PER_ELEMENT
}

/** Points to be added to: `cells` has the columns `from` up to `to` of each point. */
export interface Points {
  readonly sinceS: number
  readonly grainS: number
  readonly from: number
  readonly to: number
  readonly cells: Float64Array
}

/** Sums of the last times of one length, in one typed array of a fixed size. */
export class Ring {
  readonly #shape: RingShape
  readonly #width: number
  readonly #cells: Float32Array
  /** Number of the newest time: its first second by its length. */
  #newest = 0

  constructor(shape: RingShape) {
    this.#shape = shape
    this.#width = shape.to - shape.from
    this.#cells = new Float32Array(shape.slots * this.#width)
  }

  /** @param atS second since 1970 in which it came */
  add(atS: number, columns: ArrayLike<number>): void {
    const slot = Math.floor(atS / this.#shape.grainS)
    this.#advance(slot)
    const row = this.#rowOf(slot)
    for (let at = 0; at < this.#width; at++) {
      const more = columns[this.#shape.from + at] ?? 0
      if (more !== 0) this.#cells[row + at] = (this.#cells[row + at] ?? 0) + more
    }
  }

  /** Adds what it has of the time of each point; of a point that is shorter than its times, the whole time. */
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

  /** Takes over all that another ring of this shape has. */
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

  /** Throws for a ring of another shape. */
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
    // A clock that was set back by more than is kept begins a new history.
    if (this.#newest > 0 && (gone < 0 || gone >= this.#shape.slots)) this.#cells.fill(0)
    else if (this.#newest > 0)
      for (let next = this.#newest + 1; next <= slot; next++) {
        const row = this.#rowOf(next)
        this.#cells.fill(0, row, row + this.#width)
      }
    this.#newest = slot
  }
}
