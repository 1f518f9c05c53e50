/**
 * Finds texts by their words. All texts are joined into one, so that a search runs at the speed of memory.
 * Words hold no white space, so that no match spans two texts.
 */
export class WordSearch {
  readonly #all: string
  /** End of each text in the joined text. */
  readonly #ends: Uint32Array

  constructor(texts: readonly string[]) {
    this.#all = texts.join('\n')
    this.#ends = new Uint32Array(texts.length)
    let end = -1
    for (const [at, text] of texts.entries()) this.#ends[at] = end += text.length + 1
  }

  /** @returns the indexes of the texts that contain every word, ascending */
  find(words: readonly string[]): readonly number[] {
    // The longest word usually stands in the fewest texts.
    const [first = '', ...others] = [...words].sort((a, b) => b.length - a.length)
    const found: number[] = []
    for (let text = 0; text < this.#ends.length; text++) {
      const at = this.#all.indexOf(first, this.#startOf(text))
      if (at < 0) break
      text = this.#textAt(at, text)
      if (others.every((word) => this.#has(text, word))) found.push(text)
    }
    return found
  }

  #startOf(text: number): number {
    return text === 0 ? 0 : (this.#ends[text - 1] ?? 0) + 1
  }

  /** @param from index of a text that does not end before `at` */
  #textAt(at: number, from: number): number {
    let [low, high] = [from, this.#ends.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] ?? 0) < at) low = middle + 1
      else high = middle
    }
    return low
  }

  #has(text: number, word: string): boolean {
    return this.#all.slice(this.#startOf(text), this.#ends[text]).includes(word)
  }
}
