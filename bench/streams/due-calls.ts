/** Calls that are due and wait for a connection, first come first served: a number each, however many wait. */
export class DueCalls {
  #dues: number[] = []
  #at = 0

  get size(): number {
    return this.#dues.length - this.#at
  }

  push(dueMs: number): void {
    this.#dues.push(dueMs)
  }

  shift(): number | undefined {
    const due = this.#dues[this.#at]
    if (due !== undefined) this.#at++
    if (this.#at > SPENT_MAX && this.#at * 2 > this.#dues.length) {
      this.#dues = this.#dues.slice(this.#at)
      this.#at = 0
    }
    return due
  }
}

/** Taken numbers that are kept: to drop them one by one would move all others each time. */
const SPENT_MAX = 1_024
