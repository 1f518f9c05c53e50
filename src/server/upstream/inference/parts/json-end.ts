const BACKSLASH = '\\'

/** Finds the end of a JSON object or list that comes in pieces. What it says of anything else is no end. */
export class JsonEnd {
  #depth = 0
  #isString = false
  #isEscaped = false
  #isOver = false

  /** The value is whole: only white space may follow. */
  get isOver(): boolean {
    return this.#isOver
  }

  add(text: string): void {
    for (const unit of text) {
      if (this.#isOver) return
      if (this.#isEscaped) this.#isEscaped = false
      else if (unit === '"') this.#isString = !this.#isString
      else if (this.#isString) this.#isEscaped = unit === BACKSLASH
      else if (unit === '{' || unit === '[') this.#depth++
      else if (unit === '}' || unit === ']') this.#isOver = --this.#depth <= 0
    }
  }
}
