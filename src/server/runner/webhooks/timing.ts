import {
  WEBHOOK_ATTEMPT_MS_MAX,
  WEBHOOK_LEASE_MS,
  WEBHOOK_RETRY_AFTER_MS_MAX,
  WEBHOOK_SWEEP_MS,
} from '../../../schemas/webhooks/webhook-limits.ts'
import { WEBHOOK_DELAYS_MS } from '../../../schemas/webhooks/webhook-schedule.ts'

/** All that has to do with time, in milliseconds. */
export interface WebhookTiming {
  readonly attemptMs: number
  readonly leaseMs: number
  readonly sweepMs: number
  readonly delaysMs: readonly number[]
  readonly retryAfterMsMax: number
  /** How long what could not be sent or booked for a reason of ours is put off. */
  readonly pauseMs: number
}

/** Decision. */
const PAUSE_MS = 1_000

export const WEBHOOK_TIMING: WebhookTiming = {
  attemptMs: WEBHOOK_ATTEMPT_MS_MAX,
  leaseMs: WEBHOOK_LEASE_MS,
  sweepMs: WEBHOOK_SWEEP_MS,
  delaysMs: WEBHOOK_DELAYS_MS,
  retryAfterMsMax: WEBHOOK_RETRY_AFTER_MS_MAX,
  pauseMs: PAUSE_MS,
}
