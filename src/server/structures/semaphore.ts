/** Lets at most so many pieces of work run at once; the others wait in order. */
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
      // The turn is handed on, so that nobody who comes now gets in between.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
