/**
 * Finds texts by words in them: all texts are one, which is searched at the speed of memory instead of text
 * by text. Words hold no white space, so none reaches from one text into the next.
 */
export class WordSearch {
  readonly #all: string
  /** Where each text ends in it. */
  readonly #ends: Uint32Array

  constructor(texts: readonly string[]) {
    this.#all = texts.join('\n')
    this.#ends = new Uint32Array(texts.length)
    let end = -1
    for (const [at, text] of texts.entries()) this.#ends[at] = end += text.length + 1
  }

  /** @returns the places of the texts that have every word, ascending */
  find(words: readonly string[]): readonly number[] {
    // The longest is in the fewest texts, as a rule.
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

  /** @param from a text that does not end before it */
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
