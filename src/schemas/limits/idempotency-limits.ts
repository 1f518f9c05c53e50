import { KIB } from './limits.ts'
import { INTERN_BODY_BYTES_MAX } from '../workspaces/workspace-limits.ts'

/** Named limits of idempotency, each once, with its unit and its source. */

/**
 * Milliseconds that a repeated call waits for the first one under its `Idempotency-Key`, and that answers are
 * kept. C16.
 */
export const IDEMPOTENCY_WAIT_MS_MAX = 30_000
export const IDEMPOTENCY_KEPT_MS = 86_400_000
/**
 * Calls of one front that wait for quota or for an earlier call: of all, of a workspace, under one
 * `Idempotency-Key`. Uploads and all other calls are counted apart. Decision.
 */
export const WAITING_UPLOADS_MAX = 256
export const WAITING_WORKSPACE_UPLOADS_MAX = 64
export const WAITING_REPEATS_MAX = 16
/**
 * Milliseconds of the lease of a call under an `Idempotency-Key`, and between two renewals of it. Shorter
 * than a repetition waits: it takes over from a process that died. Decision.
 */
export const TURN_LEASE_MS = 24_000
export const TURN_RENEW_MS = 6_000
/**
 * Bytes of an answer that is kept for repetitions: a single object, which tells its body again and some facts
 * beside it. Decision.
 */
export const KEPT_ANSWER_BYTES_MAX = INTERN_BODY_BYTES_MAX + 64 * KIB
/** Characters of an `Idempotency-Key`. C16. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255
