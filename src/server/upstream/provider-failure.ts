import { UPSTREAM_ERROR_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { Failure, FailureName } from '../../schemas/failures.ts'
import type { FailureMetadata } from '../../schemas/failure-metadata.ts'
import type { EgressAnswer } from '../ports/egress/egress.ts'
import type { ProviderLink } from './link.ts'
import { readReason, readStatus, type Reason, type RedactedTexts } from './reason.ts'
import type { ModelRefusal } from './refusals.ts'
import type { FailureOf, NoAnswer } from '../../dialects/parts.ts'

/** Longest `Retry-After` in seconds that a caller gets, whatever the provider says. */
const RETRY_AFTER_S_MAX = 600

/**
 * The failure for a response other than 2xx. Contract C23: a refusal of the input keeps its reason, cleaned; a refusal
 * of the credential, of the request's form or of the payment is Sluice's failure. The details show the provider's
 * status; the status of the reply is never that of the provider.
 */
export function failureOf(answer: EgressAnswer, { redacted }: Pick<ProviderLink, 'redacted'>): Failure {
  const reason = readReason(answer.body, redacted)
  // A provider's own moderation may answer 403, a status that otherwise blames the operator's key.
  const isModerated = answer.status === 403 && reason.refusal === 'moderation'
  const name = reason.isCredential ? 'upstream_credential' : nameOf(isModerated ? 400 : answer.status)
  const metadata = metadataOf(name, reason)
  const base: Failure = {
    name,
    fields: { status: answer.status, ...refusalOf(name, reason) },
    metadata,
    detail: `The provider answered ${answer.status}.`,
  }
  if (name === 'upstream_refused' && reason.text !== null) {
    return { ...base, detail: `The provider answered ${answer.status}: ${reason.text}` }
  }
  return waited(base, answer.status, secondsOf(answer.retryAfter) ?? reason.retryAfterS)
}

/**
 * The failure that a provider reports in an event of its stream, after a status of 200. C23 decides by the status in
 * the event's members, or by the status that its words stand for; without either the failure counts as the provider's.
 * A failed answer reports its own reason; the reason of another event may concern the operator's account.
 */
export function failuresOfEvents(redacted: RedactedTexts): FailureOf {
  return (event, isOfAnswer = false) => failureOfEvent(event, redacted, isOfAnswer)
}

function failureOfEvent(event: Uint8Array, redacted: RedactedTexts, isOfAnswer: boolean): Failure {
  const isRead = event.length <= UPSTREAM_ERROR_BYTES_MAX
  const reason = isRead ? readReason(event, redacted) : null
  const status = isRead ? readStatus(event) : null
  const name = reason?.isCredential === true ? 'upstream_credential' : nameOf(status ?? 500)
  const metadata = reason === null ? {} : metadataOf(name, reason)
  const hasReason = name === 'upstream_refused' || (isOfAnswer && name === 'upstream_failed')
  const fields = reason === null ? {} : refusalOf(name, reason)
  const isShown = hasReason && typeof reason?.text === 'string'
  const detail = isShown ? `The answer broke off: ${reason.text}` : 'The answer broke off with an error.'
  return waited({ name, fields, metadata, detail }, status, reason?.retryAfterS ?? null)
}

/** Names the refused member if the caller can change it. */
function metadataOf(name: FailureName, { code, param }: Reason): FailureMetadata {
  return {
    ...(code !== null && { provider_code: code }),
    ...(param !== null && name === 'upstream_refused' && { provider_param: param }),
  }
}

const FILTER_WORD = /^\w{1,64}$/

/** The failure of a prompt that a provider's filter blocked, which the provider reports in an answer instead of an error. */
export function blockedPrompt(word: string): Failure {
  const isShown = FILTER_WORD.test(word)
  return {
    name: 'upstream_refused',
    fields: { refusal: 'moderation' satisfies ModelRefusal },
    metadata: isShown ? { provider_code: word } : {},
    detail: `The provider's filter blocked the prompt${isShown ? ` (${word})` : ''}.`,
  }
}

/** The failure of a provider with its name, in the text and for programs. */
export function named(failure: Failure, provider: string): Failure {
  return {
    ...failure,
    fields: { ...failure.fields, party: `provider ${provider}` },
    metadata: { ...failure.metadata, provider_name: provider },
  }
}

/** The failure of a whole answer that cannot be read; the same as for that answer in a stream. */
export function failureOfWhole({ failure, error }: NoAnswer, failureOf: FailureOf): Failure {
  return error === undefined ? failure : failureOf(error, true)
}

/** A field of the failure that is set when another model may be tried. */
function refusalOf(name: FailureName, { refusal }: Reason): Readonly<Record<string, string>> {
  return name === 'upstream_refused' && refusal !== null ? { refusal } : {}
}

function nameOf(status: number): FailureName {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return 'upstream_refused'
    // 402 concerns the operator's payment to the provider; 498 is Cohere's own status for a bad token.
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

const UNAVAILABLE = 503

/** Adds the provider's requested wait to a failure caused by load. @param retryAfterS null: the provider named no wait */
function waited(failure: Failure, status: number | null, retryAfterS: number | null): Failure {
  const isOfLoad = failure.name === 'upstream_overloaded' || status === UNAVAILABLE
  if (!isOfLoad || retryAfterS === null) return failure
  return { ...failure, retryAfterS: Math.min(Math.max(1, retryAfterS), RETRY_AFTER_S_MAX) }
}

function secondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null
}
