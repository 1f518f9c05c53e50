/** States of a delivery: it waits for an attempt, has succeeded, or was abandoned. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * The reason of a failed attempt. `refused`: webhooks must not be sent to the address, or its name now
 * resolves to a forbidden one;
 * `unreachable`: no connection, or it was lost before the answer; `timeout`: no answer in time; `status`:
 * neither 2xx, 3xx nor 410; `redirect`: 3xx, which is never followed; `gone`: 410; `url_disabled`: not sent,
 * since the address answered 410 before.
 */
export const WEBHOOK_REASONS = [
  'refused',
  'unreachable',
  'timeout',
  'status',
  'redirect',
  'gone',
  'url_disabled',
] as const
export type WebhookReason = (typeof WEBHOOK_REASONS)[number]
