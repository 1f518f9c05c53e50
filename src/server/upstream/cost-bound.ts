import type { Endpoint } from '../ports/models/models.ts'
import type { CostBound } from '../ports/money/money.ts'

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
