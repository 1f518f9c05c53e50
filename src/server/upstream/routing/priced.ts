import type { Outcome } from '../../../schemas/failures.ts'
import { isCounted, type LimitFlags } from '../../../schemas/money/costs.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'

/**
 * Chooses among the endpoints whose cost the limits of the caller can bound; among all where the model has no
 * others, or only others. C40.
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
 * The choices whose cost the limits of the caller can bound, over all models of a call; all where there are
 * no others, or only others. C40, D11.
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

/** Null: all endpoints are bounded, or none is. */
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

/**
 * True for a private endpoint. A provider of the catalogue under the workspace's own key has no destination
 * of its own.
 */
export function isPrivate({ ownWay }: Pick<Endpoint, 'ownWay'>): boolean {
  return ownWay !== undefined && ownWay.destination !== null
}
