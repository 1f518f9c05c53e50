import type { Failure, Outcome } from '../../../schemas/failures.ts'
import { PROBE_MS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { CheckName, CheckReason, EndpointCheck } from '../../../schemas/endpoints/private-endpoints.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { ProbeResult } from '../../ports/endpoints/private-endpoints.ts'
import type { Reading } from '../embeddings/protocol.ts'
import { readReason, type Reason, type RedactedTexts } from '../reason.ts'

/** An upstream's response as received. */
export interface Seen {
  readonly status: number
  readonly body: Uint8Array
}

export interface ProbedUpstream {
  /** Null when there was no response. */
  readonly seen: Seen | null
  readonly redacted: RedactedTexts
  /** Name of the requested model. */
  readonly modelId: string
  readonly provider: Pick<Provider, 'protocol'>
}

/** The checks that follow from a probe's outcome. B2.6. */
export function judge(reading: Outcome<Reading>, about: ProbedUpstream): ProbeResult {
  const checks = reading.ok ? ofAnswer(reading.value, about) : ofFailure(reading.failure, about)
  const isSlow =
    !reading.ok && (reading.failure.name === 'upstream_slow' || reading.failure.name === 'deadline_exceeded')
  return { checks, isSlow }
}

const CREDENTIAL: EndpointCheck = { name: 'credential_ok', passed: true }
const AUTH: EndpointCheck = { name: 'auth_ok', passed: true }

function ofAnswer(
  { promptTokens }: Reading,
  { seen, modelId, provider, redacted }: ProbedUpstream,
): readonly EndpointCheck[] {
  const actual = actualModel(seen)
  const isOther = actual !== null && !isSameModel(modelId, actual)
  // Gemini counts no tokens of embeddings.
  const hasUsage = promptTokens !== null || provider.protocol === 'google'
  return [
    CREDENTIAL,
    AUTH,
    { name: 'response_ok', passed: true },
    isOther && actual !== null
      ? { ...refusal('model_ok', 'model_mismatch'), actual_model: shown(actual, redacted) }
      : { name: 'model_ok', passed: true },
    hasUsage ? { name: 'usage_ok', passed: true } : refusal('usage_ok', 'missing_usage'),
  ]
}

function ofFailure(failure: Failure, { seen, redacted }: ProbedUpstream): readonly EndpointCheck[] {
  if (failure.name === 'destination_refused') return [refusal('base_url_ok', 'invalid_base_url')]
  if (seen === null)
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
  if (name === 'upstream_slow' || name === 'deadline_exceeded')
    return `No answer within ${PROBE_MS_MAX / 1_000} s.`
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
 * True when the response says that the model is unknown. Providers use different statuses for this; an
 * unknown path is a 404 too, but its text does not mention models.
 */
function isModelUnknown({ status }: Seen, { code, text }: Reason): boolean {
  if (![400, 404, 422].includes(status)) return false
  return [code, text].some((words) => words !== null && /model/i.test(words) && ABSENCE.test(words))
}

function actualModel(seen: Seen | null): string | null {
  if (seen === null) return null
  try {
    const { model } = JSON.parse(Buffer.from(seen.body).toString('utf8')) as { model?: unknown }
    return typeof model === 'string' && model !== '' ? model : null
  } catch {
    return null
  }
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

/**
 * True for the same model. Responses name a dated version of the requested model, or omit or add a folder:
 * `models/`, an author.
 */
function isSameModel(modelId: string, actual: string): boolean {
  const [one, other] = [modelId.toLowerCase(), actual.toLowerCase()]
  if (one === other || other.endsWith(`/${one}`) || one.endsWith(`/${other}`)) return true
  return /^[-:@.]/.test(other.slice(one.length)) && other.startsWith(one)
}
