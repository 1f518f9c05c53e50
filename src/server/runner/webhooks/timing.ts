import {
  WEBHOOK_ATTEMPT_MS_MAX,
  WEBHOOK_LEASE_MS,
  WEBHOOK_RETRY_AFTER_MS_MAX,
  WEBHOOK_SWEEP_MS,
} from '../../../schemas/webhooks/webhook-limits.ts'
import { WEBHOOK_DELAYS_MS } from '../../../schemas/webhooks/webhook-schedule.ts'

/** All durations of webhooks, in milliseconds. */
export interface WebhookTiming {
  readonly attemptMs: number
  readonly leaseMs: number
  readonly sweepMs: number
  readonly delaysMs: readonly number[]
  readonly retryAfterMsMax: number
  /**
   * Milliseconds that a delivery is put off when it could not be sent or written for a reason on Sluice's
   * side.
   */
  readonly pauseMs: number
}

/** Milliseconds that a delivery is put off when it could not be sent or written. Decision. */
const PAUSE_MS = 1_000

export const WEBHOOK_TIMING: WebhookTiming = {
  attemptMs: WEBHOOK_ATTEMPT_MS_MAX,
  leaseMs: WEBHOOK_LEASE_MS,
  sweepMs: WEBHOOK_SWEEP_MS,
  delaysMs: WEBHOOK_DELAYS_MS,
  retryAfterMsMax: WEBHOOK_RETRY_AFTER_MS_MAX,
  pauseMs: PAUSE_MS,
}
