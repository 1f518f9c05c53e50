import type { FailureName } from '../../../schemas/failures.ts'

export const UPLOAD_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'file_too_large',
  'body_slow',
  'body_invalid',
]
export const FORM_FAILURES: readonly FailureName[] = ['form_malformed', 'form_invalid', 'filename_invalid']

/** Failures of the pipeline's stages for any operation, beside the operation's own. */
export const STAGE_FAILURES: readonly FailureName[] = [
  'credentials_missing',
  'key_unknown',
  'key_expired',
  'key_disabled',
  'wrong_key_kind',
  'internal',
]
export const BODY_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'content_type_unsupported',
  'body_malformed',
  'body_invalid',
  'body_too_large',
  'body_slow',
  'busy',
]

export const IDEMPOTENCY_FAILURES: readonly FailureName[] = [
  'header_invalid',
  'idempotency_mismatch',
  'idempotency_running',
  'busy',
  'store_unavailable',
]
