import { getSystemErrorMap } from 'node:util'
import { FAILURES } from '../../../schemas/failures.ts'

/** Codes of the HTTP client, of its parser and of TLS for a connection that failed. */
const OF_CONNECTIONS = [
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HPE_HEADER_OVERFLOW',
  'HPE_INVALID_CONSTANT',
  'HPE_INVALID_CONTENT_LENGTH',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_ABORTED',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_SOCKET',
]

/** Codes of errors that OpenAI and those who copy it, Anthropic, Google, Azure and DashScope document. */
const OF_PROVIDERS = [
  'api_error',
  'authentication_error',
  'billing_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'context_window_exceeded',
  'data_inspection_failed',
  'engine_overloaded',
  'exceed_context_size_error',
  'insufficient_quota',
  'internal_error',
  'internal_server_error',
  'invalid_api_key',
  'invalid_prompt',
  'invalid_request',
  'invalid_request_error',
  'model_context_window_exceeded',
  'model_not_available',
  'model_not_found',
  'moderation_blocked',
  'not_found',
  'not_found_error',
  'overloaded',
  'overloaded_error',
  'permission_denied',
  'permission_error',
  'quota_exceeded',
  'rate_limit_error',
  'rate_limit_exceeded',
  'request_too_large',
  'server_error',
  'service_unavailable',
  'string_above_max_length',
  'timeout_error',
  'too_many_requests',
  'unsupported_country_region_territory',
  'unsupported_parameter',
  'unsupported_value',
  'ABORTED',
  'ALREADY_EXISTS',
  'API_KEY_EXPIRED',
  'API_KEY_INVALID',
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'FAILED_PRECONDITION',
  'INTERNAL',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'OUT_OF_RANGE',
  'PERMISSION_DENIED',
  'RATE_LIMIT_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'UNAUTHENTICATED',
  'UNAVAILABLE',
  'UNIMPLEMENTED',
]

const OF_THE_SYSTEM = Array.from(getSystemErrorMap().values(), ([name]) => name)

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(FAILURES),
  ...OF_THE_SYSTEM,
  ...OF_CONNECTIONS,
  ...OF_PROVIDERS,
])

/**
 * The code of a failed attempt as the log keeps it. A provider's code may be any text, also a key or a word
 * of the prompt: only known codes are kept.
 */
export function knownCode(code: string): string {
  return KNOWN.has(code) ? code : 'other'
}
