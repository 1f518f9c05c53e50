import { FairSemaphore } from './fair-semaphore.ts'

/**
 * Lets few pieces of short work run in each turn of the loop, the tenants in turn: a thousand of them in one
 * turn would hold up everything else.
 */
export class LoopTurns {
  readonly #places: FairSemaphore

  /** @param places pieces of work in one turn of the loop */
  constructor(places: number) {
    this.#places = new FairSemaphore({ places })
  }

  /** Resolves when the tenant's next piece of work may run. */
  async next(tenant: string): Promise<void> {
    const leave = await this.#places.enter({ tenant })
    if (leave !== null) setImmediate(leave)
  }
}
