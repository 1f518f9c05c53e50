import { KIB } from './limits.ts'
import { INTERN_BODY_BYTES_MAX } from '../workspaces/workspace-limits.ts'

/** Named limits of idempotency, each with its unit and its source. */

/** Milliseconds that a repeated call waits for the first call with its `Idempotency-Key`. C16. */
export const IDEMPOTENCY_WAIT_MS_MAX = 30_000
/** Milliseconds that the answer to a call with an `Idempotency-Key` is kept. C16. */
export const IDEMPOTENCY_KEPT_MS = 86_400_000
/**
 * Bytes of an answer that is kept for repetitions: a single object that repeats the request's body with a few
 * additional members. Decision.
 */
export const KEPT_ANSWER_BYTES_MAX = INTERN_BODY_BYTES_MAX + 64 * KIB
/** Characters of an `Idempotency-Key`. C16. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
