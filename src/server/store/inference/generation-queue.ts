import {
  GENERATIONS_ORGANIZATION_WAITING_MAX,
  GENERATIONS_WAITING_MAX,
} from '../../../schemas/inference/generation-limits.ts'
import { Shares } from '../../../schemas/values/callers.ts'
import type { Generation } from '../../ports/inference/generations.ts'
import { FairQueue } from '../../structures/fair-queue.ts'

/**
 * Records that wait to be written. Workspaces take turns, and an organization has at most half of the places:
 * one with very many calls keeps the records of others from being lost, and from being late.
 */
export class GenerationQueue {
  readonly #waiting = new FairQueue<Generation>()
  readonly #shares = new Shares(GENERATIONS_ORGANIZATION_WAITING_MAX)

  get size(): number {
    return this.#waiting.size
  }

  /** @returns false: there is no room */
  push(generation: Generation): boolean {
    const { organizationId } = generation
    if (this.#waiting.size >= GENERATIONS_WAITING_MAX || !this.#shares.fits(1, organizationId)) return false
    this.#waiting.push(generation)
    this.#shares.add(1, organizationId)
    return true
  }

  /** The next records to be written, at most so many. */
  take(most: number): readonly Generation[] {
    const taken: Generation[] = []
    while (taken.length < most) {
      const next = this.#waiting.shift()
      if (next === null) break
      this.#shares.add(-1, next.organizationId)
      taken.push(next)
    }
    return taken
  }
}
