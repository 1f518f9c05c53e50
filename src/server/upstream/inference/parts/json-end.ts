const [QUOTE, BACKSLASH, OPEN_OBJECT, OPEN_LIST, CLOSE_OBJECT, CLOSE_LIST] = Array.from('"\\{[}]', (unit) =>
  unit.charCodeAt(0),
)

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

  /** @returns UTF-16 units of the text that belong to the value */
  add(text: string): number {
    let at = 0
    for (; at < text.length && !this.#isOver; at++) this.#take(text.charCodeAt(at))
    return at
  }

  #take(unit: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (unit === QUOTE) this.#isString = !this.#isString
    else if (this.#isString) this.#isEscaped = unit === BACKSLASH
    else if (unit === OPEN_OBJECT || unit === OPEN_LIST) this.#depth++
    else if (unit === CLOSE_OBJECT || unit === CLOSE_LIST) this.#isOver = --this.#depth <= 0
  }
}
