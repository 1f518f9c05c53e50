/** Counts the calls of a built-in model that run at once, in a front and by organization. */
export class LocalCalls {
  readonly #max: number
  readonly #ofOneMax: number
  #count = 0
  readonly #by = new Map<string, number>()

  constructor({ max, ofOneMax }: { readonly max: number; readonly ofOneMax: number }) {
    this.#max = max
    this.#ofOneMax = ofOneMax
  }

  /** @returns null when too many run; otherwise the end of the call, to be called once */
  begin(organizationId: string): (() => void) | null {
    const own = this.#by.get(organizationId) ?? 0
    if (this.#count >= this.#max || own >= this.#ofOneMax) return null
    this.#count++
    this.#by.set(organizationId, own + 1)
    return () => this.#end(organizationId)
  }

  #end(organizationId: string): void {
    this.#count--
    const left = (this.#by.get(organizationId) ?? 1) - 1
    if (left > 0) this.#by.set(organizationId, left)
    else this.#by.delete(organizationId)
  }
}
