import { Gauge, type Registry } from 'prom-client'
import type { DeliveryCounts, WebhookMeters } from '../ports/webhooks/webhooks.ts'
import { Tally } from './tally.ts'

/**
 * Metrics of a runner's webhooks. Attempts are its own; deliveries are those of all runners, so that the
 * largest of a node's figures is shown and not their sum. Design §11.
 * @param read what was last counted; null before
 */
export function watchWebhooks(registry: Registry, read: () => DeliveryCounts | null): WebhookMeters {
  const attempts = new Tally(
    registry,
    'sluice_webhook_attempts_total',
    'Attempts to deliver webhooks by what came of them.',
    ['outcome'],
  )
  new Gauge({
    name: 'sluice_webhook_deliveries',
    help: 'Webhooks that wait for an attempt, and dead letters.',
    labelNames: ['state'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      for (const [state, count] of Object.entries(read() ?? {})) this.set({ state }, count)
    },
  })
  return { attempt: (outcome) => attempts.add(1, outcome) }
}
