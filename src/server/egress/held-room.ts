import type { Caller } from '../../schemas/values/callers.ts'
import type { AnswerRoom } from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'

/** Room in the front's answer budget, taken for bytes that this process made itself. */
export class HeldRoom implements AnswerRoom {
  readonly #budget: AnswerBudget
  readonly #caller: Caller
  #bytes: number

  /** @param bytes already taken from the budget */
  constructor(budget: AnswerBudget, bytes: number, caller: Caller) {
    this.#budget = budget
    this.#bytes = bytes
    this.#caller = caller
  }

  get bytes(): number {
    return this.#bytes
  }

  grow(bytes: number): boolean {
    if (!this.#budget.grow({ bytes, heldBytes: this.#bytes, caller: this.#caller })) return false
    this.#bytes += bytes
    return true
  }

  give(): void {
    if (this.#bytes > 0) this.#budget.give(this.#bytes, this.#caller)
    this.#bytes = 0
  }
}
