import type { Failure, Outcome } from '../../../schemas/failures.ts'
import { PROBE_MS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { CheckName, CheckReason, EndpointCheck } from '../../../schemas/endpoints/private-endpoints.ts'
import { readReason, type Reason, type RedactedTexts } from '../reason.ts'

/** An upstream's response as received. */
export interface Seen {
  readonly status: number
  readonly body: Uint8Array
}

export interface FormAnswer {
  /** Every name of the model in the response. */
  readonly models: readonly string[]
  readonly hasUsage: boolean
  /** False when the stream has no end; null when the form is not streamed. */
  readonly isWhole: boolean | null
}

export interface ProbedUpstream {
  /** Null when there was no response. */
  readonly seen: Seen | null
  readonly redacted: RedactedTexts
  readonly modelId: string
}

export interface FormVerdict {
  /** Checks in their order; the last one may have failed. */
  readonly checks: readonly EndpointCheck[]
  readonly isSlow: boolean
}

export function judge(answer: Outcome<FormAnswer>, about: ProbedUpstream): FormVerdict {
  return answer.ok
    ? { checks: ofAnswer(answer.value, about), isSlow: false }
    : { checks: ofFailure(answer.failure, about), isSlow: isSlow(answer.failure) }
}

function isSlow({ name }: Failure): boolean {
  return name === 'upstream_slow' || name === 'deadline_exceeded'
}

const CREDENTIAL: EndpointCheck = { name: 'credential_ok', passed: true }
const AUTH: EndpointCheck = { name: 'auth_ok', passed: true }
const RESPONSE: EndpointCheck = { name: 'response_ok', passed: true }
const STREAM: EndpointCheck = { name: 'stream_ok', passed: true }

function ofAnswer(
  { models, hasUsage, isWhole }: FormAnswer,
  { modelId, redacted }: ProbedUpstream,
): readonly EndpointCheck[] {
  const before = [CREDENTIAL, AUTH, RESPONSE]
  if (isWhole === false) return [...before, refusal('stream_ok', 'invalid_stream')]
  const other = models.find((model) => !isSameModel(modelId, model))
  return [
    ...before,
    ...(isWhole === null ? [] : [STREAM]),
    other === undefined
      ? { name: 'model_ok', passed: true }
      : { ...refusal('model_ok', 'model_mismatch'), actual_model: shown(other, redacted) },
    hasUsage ? { name: 'usage_ok', passed: true } : refusal('usage_ok', 'missing_usage'),
  ]
}

function ofFailure(failure: Failure, { seen, redacted }: ProbedUpstream): readonly EndpointCheck[] {
  if (failure.name === 'destination_refused') return [refusal('base_url_ok', 'invalid_base_url')]
  // A stream may stall after the start of its response.
  if (seen === null || isSlow(failure))
    return [CREDENTIAL, { ...refusal('response_ok', 'upstream_error'), upstream_message: wordsOf(failure) }]
  const reason = readReason(seen.body, redacted)
  if (failure.name === 'upstream_credential')
    return [CREDENTIAL, { ...refusal('auth_ok', 'upstream_error'), ...detailsOf(seen, reason) }]
  if (isModelUnknown(seen, reason))
    return [CREDENTIAL, AUTH, { ...refusal('model_ok', 'model_not_found'), ...detailsOf(seen, reason) }]
  const isAnswer = failure.name === 'upstream_invalid' || failure.name === 'upstream_too_large'
  if (isAnswer) return [CREDENTIAL, AUTH, refusal('response_ok', 'invalid_response')]
  return [CREDENTIAL, { ...refusal('response_ok', 'upstream_error'), ...detailsOf(seen, reason) }]
}

function refusal(name: CheckName, reason: CheckReason): EndpointCheck {
  return { name, passed: false, reason }
}

/** Reason for a connection without a response. */
function wordsOf({ name, detail }: Failure): string {
  if (isSlow({ name })) return `No complete answer within ${PROBE_MS_MAX / 1_000} s.`
  return detail ?? 'The connection failed.'
}

const LEAST_ERROR = 400

function detailsOf(
  { status }: Seen,
  { text }: Reason,
): Pick<EndpointCheck, 'upstream_status' | 'upstream_message'> {
  return {
    ...(status >= LEAST_ERROR && { upstream_status: status }),
    ...(text !== null && { upstream_message: text }),
  }
}

const ABSENCE =
  /not[_ ](?:be )?(?:found|exist|available|supported)|does(?:n.t| not) exist|unknown|no such|invalid/i

/**
 * True when the response says that the model is unknown. Providers use different statuses for this; an unknown path
 * results in a 404 too, but with a text that does not mention models.
 */
function isModelUnknown({ status }: Seen, { code, text }: Reason): boolean {
  if (![400, 404, 422].includes(status)) return false
  return [code, text].some((words) => words !== null && /model/i.test(words) && ABSENCE.test(words))
}

const MODEL_CHARS_MAX = 256

/**
 * A model's name for the report. The store accepts neither NUL nor half a surrogate pair. The text is
 * shortened last: half a key would still be a part of a key.
 */
function shown(model: string, { credential }: RedactedTexts): string {
  return model
    .replaceAll(credential, '[…]')
    .replaceAll('\0', '\uFFFD')
    .slice(0, MODEL_CHARS_MAX)
    .toWellFormed()
}

/** True for the same model. Responses may name a dated version of the requested model, or omit or add a folder: `models/`, an author. */
function isSameModel(modelId: string, actual: string): boolean {
  const [one, other] = [modelId.toLowerCase(), actual.toLowerCase()]
  if (one === other || other.endsWith(`/${one}`) || one.endsWith(`/${other}`)) return true
  return /^[-:@.]/.test(other.slice(one.length)) && other.startsWith(one)
}
