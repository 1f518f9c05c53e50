import { Shares } from '../../schemas/values/callers.ts'

/** Counts the calls of a built-in model that run at once, in a front and by organization. */
export class LocalCalls {
  readonly #max: number
  readonly #organizations: Shares
  #count = 0

  constructor({ max, ofOneMax }: { readonly max: number; readonly ofOneMax: number }) {
    this.#max = max
    this.#organizations = new Shares(ofOneMax)
  }

  /** @returns null when too many run; otherwise a function that ends the call, to be called once */
  begin(organizationId: string): (() => void) | null {
    if (this.#count >= this.#max || !this.#organizations.fits(1, organizationId)) return null
    this.#count++
    this.#organizations.add(1, organizationId)
    return () => {
      this.#count--
      this.#organizations.add(-1, organizationId)
    }
  }
}
