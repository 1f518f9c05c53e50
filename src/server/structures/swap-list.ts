/** What a swap list may hold. */
export interface Listed {
  /** Its index in the list; -1 outside. Only the list writes it. */
  place: number
}

/**
 * Everything that is open now, in no order. Not a Set: one that gains and loses thousands of members a second
 * rebuilds its table in the old generation again and again, and what dead tables point to survives every
 * scavenge.
 */
export class SwapList<T extends Listed> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.place = this.#members.push(member) - 1
  }

  /** A second call does nothing. */
  delete(member: T): void {
    const { place } = member
    if (place === -1) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  /**
   * Looks at each once, also where the look takes members out: backwards, as one that goes is replaced by the
   * last.
   */
  each(look: (member: T) => void): void {
    for (let at = this.#members.length - 1; at >= 0; at--) {
      const member = this.#members[at]
      if (member !== undefined) look(member)
    }
  }

  /** A copy: whoever goes through it may close what it finds. */
  list(): readonly T[] {
    return [...this.#members]
  }
}
