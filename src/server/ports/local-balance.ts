/**
 * A front's local balance of a scarce resource, which an authority lends. Rates and money share this
 * interface and no implementation: a rate token frees itself with time, money never does. Design §6.
 */
export interface LocalBalance<Ask, Taken> {
  /** Returns at once while the balance, or a known refusal, lasts; null = call `refill`. */
  take(ask: Ask): Taken | null
  /**
   * Waits for the authority. Requests are single-flight, and those of one event-loop tick go out together.
   * Never rejects.
   */
  refill(ask: Ask): Taken | Promise<Taken>
  /** Empties the balance. @param now monotonic milliseconds @returns the amount that goes back */
  giveBack(now: number): number
}
