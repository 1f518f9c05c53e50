/** The amounts that the holders of a resource have, each up to the same maximum. */
export class Shares {
  readonly #most: number
  readonly #heldBy = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  heldBy(name: string): number {
    return this.#heldBy.get(name) ?? 0
  }

  fits(more: number, name: string): boolean {
    return this.heldBy(name) + more <= this.#most
  }

  add(more: number, name: string): void {
    const held = this.heldBy(name) + more
    if (held > 0) this.#heldBy.set(name, held)
    else this.#heldBy.delete(name)
  }
}
