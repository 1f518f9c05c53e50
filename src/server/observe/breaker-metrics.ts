import { Counter, Gauge, type Registry } from 'prom-client'
import type { BreakerReading } from '../ports/observe.ts'

/**
 * Circuit breakers by provider of the catalogue, of those that ever opened. Every front has breakers of its
 * own: of the open ones the largest count of a front is shown, openings are summed.
 */
export function watchBreakers(registry: Registry, read: () => readonly BreakerReading[]): void {
  const shared = { labelNames: ['provider'], registers: [registry] }
  new Gauge({
    name: 'sluice_upstream_breakers_open',
    help: 'Endpoints whose circuit breaker is open, the most of any front.',
    aggregator: 'max',
    ...shared,
    collect() {
      for (const { provider, open } of read()) this.set({ provider }, open.length)
    },
  })
  new Counter({
    name: 'sluice_upstream_breaker_openings_total',
    help: 'Times that the circuit breaker of an endpoint opened.',
    ...shared,
    collect() {
      this.reset()
      for (const { provider, openings } of read()) this.inc({ provider }, openings)
    },
  })
}
