import { Gauge, type Registry } from 'prom-client'
import type { DeliveryCounts, WebhookMeters } from '../ports/webhooks/webhooks.ts'
import { Tally } from './durations.ts'

/**
 * Metrics of a runner's webhooks. Attempts are the runner's own; deliveries cover all runners, so that the
 * node shows the largest figure of its processes and not their sum. Design §11.
 * @param read returns the last count; null before the first
 */
export function watchWebhooks(registry: Registry, read: () => DeliveryCounts | null): WebhookMeters {
  const attempts = new Tally(
    registry,
    'sluice_webhook_attempts_total',
    'Attempts to deliver webhooks, by outcome.',
    ['outcome'],
  )
  new Gauge({
    name: 'sluice_webhook_deliveries',
    help: 'Webhook deliveries by state: waiting for an attempt, or dead (given up).',
    labelNames: ['state'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      for (const [state, count] of Object.entries(read() ?? {})) this.set({ state }, count)
    },
  })
  return { attempt: (outcome) => attempts.add(1, outcome) }
}
