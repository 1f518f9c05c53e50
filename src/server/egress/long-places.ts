import { CallerShares, type Caller } from '../../schemas/values/callers.ts'

/** Share of the places for long calls that one organization holds at most, but at least one place. D30. */
export const LONG_CALLS_ORGANIZATION_SHARE = 1 / 2
/** Share of the places for long calls that one workspace holds at most, but at least one place. Decision. */
export const LONG_CALLS_WORKSPACE_SHARE = 7 / 16
/** Share of the places for long calls that one key holds at most, but at least one place. Decision. */
export const LONG_CALLS_KEY_SHARE = 3 / 8

/**
 * The places for long calls of one front, over all trusted origins: in all, and for each organization,
 * workspace and key. A call waits for no place, since a place may stay taken for minutes. D30.
 */
export class LongPlaces {
  readonly #max: number
  readonly #shares: CallerShares
  #taken = 0

  constructor(max: number) {
    this.#max = max
    this.#shares = new CallerShares({
      organization: shareOf(max, LONG_CALLS_ORGANIZATION_SHARE),
      workspace: shareOf(max, LONG_CALLS_WORKSPACE_SHARE),
      key: shareOf(max, LONG_CALLS_KEY_SHARE),
    })
  }

  /** @param caller absent: a call of the operator, which counts for no share */
  take(caller: Caller | undefined): boolean {
    if (this.#taken >= this.#max) return false
    if (caller !== undefined) {
      if (!this.#shares.fits(1, caller)) return false
      this.#shares.add(1, caller)
    }
    this.#taken++
    return true
  }

  /** @param caller as it was given to `take` */
  giveBack(caller: Caller | undefined): void {
    this.#taken--
    if (caller !== undefined) this.#shares.add(-1, caller)
  }
}

/** A front with one place serves all callers in turn. */
function shareOf(max: number, share: number): number {
  return Math.max(1, Math.floor(max * share))
}
