/** Lent by an authority. Rates and money share no implementation: a rate token frees itself with time, money never does. */
export interface LocalBalance<Ask, Taken> {
  /** Returns at once while the balance, or a known refusal, lasts; null = call `refill`. */
  take(ask: Ask): Taken | null
  /** Waits for the authority: single-flight, and those of one event-loop tick go out together. Never rejects. */
  refill(ask: Ask): Taken | Promise<Taken>
  /** Empties the balance. @param now monotonic milliseconds @returns the amount that goes back */
  giveBack(now: number): number
}
