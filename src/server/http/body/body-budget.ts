import { CallerShares, type Caller } from '../../../schemas/values/callers.ts'

/**
 * Share of the budget that one organization may hold: none can keep all others out, with any number of keys.
 * Decision.
 */
const ORGANIZATION_SHARE = 3 / 4
/** Share of the budget that one workspace may hold. Decision. */
const WORKSPACE_SHARE = 5 / 8
/** Share of the budget that one key may hold. Decision. */
const KEY_SHARE = 1 / 2

/** Bytes of bodies that one front holds at once, in all and for each organization, workspace and key. */
export class BodyBudget {
  #left: number
  readonly #shares: CallerShares

  constructor(bytesMax: number) {
    this.#left = bytesMax
    this.#shares = new CallerShares({
      organization: bytesMax * ORGANIZATION_SHARE,
      workspace: bytesMax * WORKSPACE_SHARE,
      key: bytesMax * KEY_SHARE,
    })
  }

  get left(): number {
    return this.#left
  }

  /** @param caller null before the caller is admitted */
  take(bytes: number, caller: Caller | null): boolean {
    if (bytes > this.#left) return false
    if (caller !== null && !this.#shares.fits(bytes, caller)) return false
    this.#count(bytes, caller)
    return true
  }

  giveBack(bytes: number, caller: Caller | null): void {
    this.#count(-bytes, caller)
  }

  #count(bytes: number, caller: Caller | null): void {
    this.#left -= bytes
    if (caller !== null) this.#shares.add(bytes, caller)
  }
}
