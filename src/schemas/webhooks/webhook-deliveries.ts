/** A delivery waits for an attempt, has succeeded, or was given up. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * The reason of a failed attempt. `refused`: webhooks may not go to the address, or its name resolves to a
 * forbidden one now; `unreachable`: no connection, or none that lasted until the answer; `timeout`: no answer
 * in time; `status`: neither 2xx, 3xx nor 410; `redirect`: 3xx, which is never followed; `gone`: 410;
 * `url_disabled`: not sent, since the address answered 410 before.
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
