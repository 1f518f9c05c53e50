/** Runs a bounded number of tasks at once. The others wait in order. */
export class Semaphore {
  readonly #countMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#countMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await work()
    } finally {
      // The place is handed directly to the next waiter, so that a new caller cannot take it first.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
