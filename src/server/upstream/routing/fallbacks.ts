import type { Failure, FailureName } from '../../../schemas/failures.ts'

/**
 * Failures after which another endpoint may succeed, and whether each is a strike against its endpoint. Every other
 * failure is due to the input, the caller or Sluice. When all endpoints fail, the reply names the failure that is first
 * in this order, which puts the best chance for the caller first: an overloaded or slow provider may answer the next
 * try; a refused credential needs an operator.
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
  body_too_large: { isStrike: false },
  input_unsupported: { isStrike: false },
  media_unavailable: { isStrike: false },
  field_unsupported: { isStrike: false },
} as const satisfies Partial<Record<FailureName, { readonly isStrike: boolean }>>

type FallbackName = keyof typeof FALLBACKS
export interface Fallback extends Failure {
  readonly name: FallbackName
}

const RANKED = Object.keys(FALLBACKS)

export function mayFallBack(failure: Failure): failure is Fallback {
  return Object.hasOwn(FALLBACKS, failure.name)
}

/** True when the failure is a strike against its endpoint. */
export function isStrike(failure: Failure): boolean {
  return mayFallBack(failure) && FALLBACKS[failure.name].isStrike
}

/** True for a refusal of the input that concerns only one model: another model may have a longer context, or no such moderation. */
export function mayChangeModel({ name, fields }: Failure): boolean {
  return name === 'upstream_refused' && fields?.['refusal'] !== undefined
}

/**
 * Rank of a failure; the reply names the failure with the lowest rank. A refusal of the input ranks first: no further
 * endpoint of its model was tried after it.
 */
export function rankOf({ name }: Failure): number {
  return (RANKED as readonly string[]).indexOf(name)
}
