interface Entry<T> {
  readonly at: number
  readonly item: T
}

/** Items ordered by time, the earliest first: one timer serves all of them. */
export class TimeHeap<T> {
  readonly #entries: Entry<T>[] = []

  get size(): number {
    return this.#entries.length
  }

  /** Time of the earliest item; Infinity when the heap is empty. */
  get nextAt(): number {
    return this.#entries[0]?.at ?? Infinity
  }

  push(at: number, item: T): void {
    const entries = this.#entries
    let place = entries.length
    const entry = { at, item }
    entries.push(entry)
    while (place > 0) {
      const up = (place - 1) >> 1
      const above = entries[up]
      if (above === undefined || above.at <= at) break
      entries[place] = above
      place = up
    }
    entries[place] = entry
  }

  /** The earliest item, if its time has come. */
  popDue(now: number): Entry<T> | null {
    const first = this.#entries[0]
    if (first === undefined || first.at > now) return null
    const last = this.#entries.pop()
    if (last !== undefined && last !== first) this.#sink(last)
    return first
  }

  #sink(entry: Entry<T>): void {
    const entries = this.#entries
    let place = 0
    for (;;) {
      const [left, right] = [entries[2 * place + 1], entries[2 * place + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && right.at < left.at
      const child = isRight ? right : left
      if (child.at >= entry.at) break
      entries[place] = child
      place = 2 * place + (isRight ? 2 : 1)
    }
    entries[place] = entry
  }
}
