/** A member of a swap list. */
export interface Listed {
  /** The member's index in the list; -1 outside. Only the list writes it. */
  place: number
}

/**
 * Everything that is open now, in no order. A Set would not do: a Set that gains and loses thousands of
 * members a second rebuilds its table in the old generation again and again, and the objects that dead tables
 * point to survive every scavenge.
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
   * Visits every member once, also while the visit removes members. The loop runs backwards because the last
   * member replaces a removed one.
   */
  each(look: (member: T) => void): void {
    for (let at = this.#members.length - 1; at >= 0; at--) {
      const member = this.#members[at]
      if (member !== undefined) look(member)
    }
  }

  /** A copy: the caller may close and remove members while it iterates. */
  list(): readonly T[] {
    return [...this.#members]
  }
}
