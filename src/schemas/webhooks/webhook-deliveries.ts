/** A delivery waits to be made, has been made, or was given up. C17. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/**
 * Why an attempt failed. `refused`: the address is none that webhooks may go to, or its name leads to one
 * now; `unreachable`: no connection, or none that lasted until the answer; `timeout`: no answer in time;
 * `status`: neither 2xx, 3xx nor 410; `redirect`: 3xx, which is never followed; `gone`: 410; `url_disabled`:
 * not sent, since the address answered 410 before.
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
