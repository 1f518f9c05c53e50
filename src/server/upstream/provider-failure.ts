import type { Failure, FailureMetadata, FailureName } from '../../schemas/failures.ts'
import type { EgressAnswer } from '../ports/egress/egress.ts'
import type { ProviderLink } from './link.ts'
import { readReason } from './reason.ts'

/** Longest `Retry-After` in seconds that a caller gets, whatever the provider says. */
const RETRY_AFTER_S_MAX = 600

/**
 * The failure for a response other than 2xx. Contract C23: a refusal of the input keeps its reason, cleaned;
 * a refusal of the credential, of the request's form or of the payment is Sluice's failure. Details show the
 * provider's status; the reply never has it.
 */
export function failureOf(answer: EgressAnswer, { redacted }: Pick<ProviderLink, 'redacted'>): Failure {
  const reason = readReason(answer.body, redacted)
  const name = reason.isCredential ? 'upstream_credential' : nameOf(answer.status)
  const metadata: FailureMetadata = reason.code === null ? {} : { provider_code: reason.code }
  const base: Failure = {
    name,
    fields: { status: answer.status },
    metadata,
    detail: `It answered ${answer.status}.`,
  }
  if (name === 'upstream_refused' && reason.text !== null) {
    return { ...base, detail: `It answered ${answer.status}: ${reason.text}` }
  }
  const retryAfterS = name === 'upstream_overloaded' ? secondsOf(answer.retryAfter) : null
  return retryAfterS === null ? base : { ...base, retryAfterS }
}

function nameOf(status: number): FailureName {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return 'upstream_refused'
    // 402 is the provider's bill to the operator; 498 is Cohere's own status for a bad token.
    case 401:
    case 402:
    case 403:
    case 407:
    case 498:
      return 'upstream_credential'
    case 429:
    case 529:
      return 'upstream_overloaded'
    // Redirects, unknown paths and models, and every 5xx: the caller can solve none of them.
    default:
      return 'upstream_failed'
  }
}

function secondsOf(retryAfter: string | null): number | null {
  if (retryAfter === null || !/^\d{1,9}$/.test(retryAfter)) return null
  return Math.min(Math.max(1, Number(retryAfter)), RETRY_AFTER_S_MAX)
}
