const DIGEST_BEGIN = 0x811c9dc5
const DIGEST_PRIME = 0x01000193

/** A text that was given on in fragments, of which nothing is kept but its length and a digest (FNV-1a). */
export class GivenText {
  /** The provider has told the whole text, and no fragment may follow. */
  isWhole = false
  /** UTF-16 units so far. */
  #units = 0
  #digest = DIGEST_BEGIN

  add(text: string): void {
    this.#digest = digestOf(text, text.length, this.#digest)
    this.#units += text.length
  }

  /**
   * What is left to give of the same text, told whole. Nothing is left of a text that is no longer than its
   * fragments, and the two are not compared then: small servers leave texts out of some events.
   * @returns null: the fragments are not its begin
   */
  restOf(whole: string): string | null {
    if (whole.length <= this.#units) return ''
    return digestOf(whole, this.#units, DIGEST_BEGIN) === this.#digest ? whole.slice(this.#units) : null
  }
}

/** @param units of the text that count @param before digest of what stands before it */
function digestOf(text: string, units: number, before: number): number {
  let digest = before
  for (let at = 0; at < units; at++) digest = Math.imul(digest ^ text.charCodeAt(at), DIGEST_PRIME)
  return digest
}
