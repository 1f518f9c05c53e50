import type { Endpoint } from '../ports/models/models.ts'
import type { CostBound } from '../ports/money/money.ts'

/**
 * Instants of a call, from its plan on. They follow the clock of deadlines: a wall clock that is set while a
 * call runs must not take its price out of its bound. F4, F7.
 */
export class CallInstants {
  /** Unix milliseconds of the plan. */
  readonly from: number
  readonly #plannedAt: number
  readonly #deadlineAt: number

  /** @param plannedAt and the deadline are of the clock of deadlines */
  constructor(from: number, plannedAt: number, deadlineAt: number) {
    this.from = from
    this.#plannedAt = plannedAt
    this.#deadlineAt = deadlineAt
  }

  /** Unix milliseconds of the deadline. */
  get until(): number {
    return this.at(this.#deadlineAt)
  }

  /** Unix milliseconds of a time of the clock of deadlines. No attempt begins after the deadline. */
  at(clock: number): number {
    return this.from + Math.max(0, Math.min(clock, this.#deadlineAt) - this.#plannedAt)
  }
}

/**
 * The most that a call may cost: the highest bound of all endpoints that the call may reach. Endpoints under
 * the workspace's own credentials have a bound of their own, since each endpoint is called under one
 * credential only. Design §6.4.
 * @param boundOf nano-USD of a priced endpoint; null: the call has no bound there
 */
export function dearestBound(
  targets: readonly { readonly endpoint: Endpoint }[],
  boundOf: (endpoint: Endpoint) => number | null,
): CostBound {
  let paidNano: number | null = 0
  let anyNano: number | null = 0
  let unpriced: string | null = null
  for (const { endpoint } of targets) {
    if (endpoint.isUnpriced) unpriced ??= endpoint.tag
    // A missing price is not the price 0: the provider charges a price that Sluice does not know. C40.
    const nano = endpoint.isUnpriced ? null : boundOf(endpoint)
    anyNano = dearer(anyNano, nano)
    if (endpoint.ownWay === undefined) paidNano = dearer(paidNano, nano)
  }
  return unpriced === null ? { paidNano, anyNano } : { paidNano, anyNano, unpriced }
}

/** The higher of two bounds; null (unbounded) is above every bound. */
function dearer(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other)
}
