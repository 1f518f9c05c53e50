import type { Endpoint, CallableModel } from '../ports/models/models.ts'
import type { CostBound } from '../ports/money/money.ts'
import type { Outcome } from '../../schemas/failures.ts'
import { isCounted, type LimitFlags } from '../../schemas/money/costs.ts'

/**
 * Instants of a call, from its plan on. They follow the clock of deadlines: if the wall clock is changed during a call,
 * the price must still be that of the bound.
 */
export class CallInstants {
  /** Unix milliseconds of the plan. */
  readonly from: number
  readonly #plannedAt: number
  readonly #deadlineAt: number

  /** @param plannedAt on the clock of deadlines, as is `deadlineAt` */
  constructor(from: number, plannedAt: number, deadlineAt: number) {
    this.from = from
    this.#plannedAt = plannedAt
    this.#deadlineAt = deadlineAt
  }

  /** Unix milliseconds of the deadline. */
  get until(): number {
    return this.at(this.#deadlineAt)
  }

  /** Converts a time of the clock of deadlines to Unix milliseconds. No attempt begins after the deadline. */
  at(clock: number): number {
    return this.from + Math.max(0, Math.min(clock, this.#deadlineAt) - this.#plannedAt)
  }
}

/**
 * The most that a call may cost: the highest bound of all endpoints that the call may reach. Endpoints under the
 * workspace's own credentials have a separate bound, since each endpoint is called under one credential only. Design
 * §6.4.
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
    // A missing price is not the price 0: the provider charges a price that Sluice does not know.
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

/**
 * Chooses among the endpoints whose cost the limits of the caller can bound; among all when none or all of them are
 * bounded.
 * @param limits null: no limits
 */
export function choosePriced<T>(
  model: CallableModel,
  limits: LimitFlags | null,
  choose: (model: CallableModel) => Outcome<T>,
): Outcome<T> {
  const bounded = limits === null ? null : boundedOf(model, limits)
  if (bounded === null) return choose(model)
  const chosen = choose({ ...model, endpoints: bounded })
  return chosen.ok ? chosen : choose(model)
}

/**
 * The choices whose cost the limits of the caller can bound, over all models of a call; all choices when none or all of
 * them are bounded.
 * @param limits null: no limits
 * @param isPriced whether the price of the call at an endpoint is known
 */
export function pricedChoices<C extends { readonly target: { readonly endpoint: Endpoint } }>(
  choices: readonly C[],
  limits: LimitFlags | null,
  isPriced: (endpoint: Endpoint) => boolean,
): readonly C[] {
  if (limits === null) return choices
  const bounded = choices.filter(
    ({ target: { endpoint } }) => isPriced(endpoint) || !isCounted(limits, endpoint.ownWay !== undefined),
  )
  return bounded.length === 0 ? choices : bounded
}

/** Null when all endpoints are bounded, or none is. */
function boundedOf({ endpoints }: CallableModel, limits: LimitFlags): CallableModel['endpoints'] | null {
  return endpoints.some(hasNoPrice) ? pricedOf(endpoints, limits) : null
}

function pricedOf(
  endpoints: CallableModel['endpoints'],
  limits: LimitFlags,
): CallableModel['endpoints'] | null {
  const bounded = endpoints.filter((endpoint) => isBounded(endpoint, limits))
  return bounded.length === 0 || bounded.length === endpoints.length ? null : bounded
}

function hasNoPrice({ isUnpriced }: Endpoint): boolean {
  return isUnpriced
}

function isBounded({ isUnpriced, ownWay }: Endpoint, limits: LimitFlags): boolean {
  return !isUnpriced || !isCounted(limits, ownWay !== undefined)
}

/** True for a private endpoint. A provider of the catalogue under the workspace's own key has no destination of its own. */
export function isPrivate({ ownWay }: Pick<Endpoint, 'ownWay'>): boolean {
  return ownWay !== undefined && ownWay.destination !== null
}
