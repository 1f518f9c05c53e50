import type { Failure, FailureName } from '../../schemas/failures.ts'

/**
 * The failures that another endpoint may mend, and whether each counts against the endpoint; every other one
 * is the input's, the caller's or ours. When all endpoints fail, the first in this order is told: the one
 * that leaves the caller most to hope for. An overloaded or slow provider may answer the next try; a refused
 * credential will not help until an operator acts.
 */
const FALLBACKS = {
  upstream_overloaded: { isStrike: true },
  upstream_slow: { isStrike: true },
  busy: { isStrike: false },
  upstream_failed: { isStrike: true },
  upstream_invalid: { isStrike: true },
  upstream_too_large: { isStrike: false },
  upstream_credential: { isStrike: true },
  credential_unavailable: { isStrike: true },
  input_unsupported: { isStrike: false },
} as const satisfies Partial<Record<FailureName, { readonly isStrike: boolean }>>

type FallbackName = keyof typeof FALLBACKS
export interface Fallback extends Failure {
  readonly name: FallbackName
}

const RANKED = Object.keys(FALLBACKS)

export function mayFallBack(failure: Failure): failure is Fallback {
  return Object.hasOwn(FALLBACKS, failure.name)
}

/** Whether it counts against its endpoint. */
export function isStrike(failure: Failure): boolean {
  return mayFallBack(failure) && FALLBACKS[failure.name].isStrike
}

/** The lowest is told. */
export function rankOf({ name }: Fallback): number {
  return RANKED.indexOf(name)
}
