import { Counter, Gauge, type Registry } from 'prom-client'
import type { BreakerReading } from '../ports/observe.ts'

/**
 * Metrics of circuit breakers by provider of the catalogue, for breakers that ever opened. Every front has
 * its own breakers: the node shows the largest count of open breakers of any front and the sum of the
 * openings.
 */
export function watchBreakers(registry: Registry, read: () => readonly BreakerReading[]): void {
  const shared = { labelNames: ['provider'], registers: [registry] }
  new Gauge({
    name: 'sluice_upstream_breakers_open',
    help: 'Endpoints with an open circuit breaker, by provider: the maximum over all fronts.',
    aggregator: 'max',
    ...shared,
    collect() {
      for (const { provider, open } of read()) this.set({ provider }, open.length)
    },
  })
  new Counter({
    name: 'sluice_upstream_breaker_openings_total',
    help: 'Number of times the circuit breaker of an endpoint opened, by provider.',
    ...shared,
    collect() {
      this.reset()
      for (const { provider, openings } of read()) this.inc({ provider }, openings)
    },
  })
}
