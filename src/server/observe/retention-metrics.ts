import { Gauge, type Registry } from 'prom-client'
import type { RetentionKind, RetentionMeters } from '../ports/operator/retention.ts'
import { Tally } from './durations.ts'

const MS = 1_000

/**
 * Metrics of retention. Rows are those that this runner removed; ages cover the whole installation, so that
 * the node shows the largest figure of its processes. Design §11.
 */
export function createRetentionMeters(registry: Registry, now: () => number): RetentionMeters {
  const rows = new Tally(
    registry,
    'sluice_pruned_rows_total',
    'Rows deleted from Postgres because their retention time had passed, by kind of row.',
    ['kind'],
  )
  const oldest = new Map<RetentionKind, Date | null>()
  new Gauge({
    name: 'sluice_oldest_kept_seconds',
    help: 'Age in seconds of the oldest row in Postgres, by kind of row; 0 if there are none.',
    labelNames: ['kind'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      for (const [kind, at] of oldest)
        this.set({ kind }, at === null ? 0 : Math.max(0, now() - at.getTime()) / MS)
    },
  })
  return {
    pruned: (kind, count) => rows.add(count, kind),
    oldest: (kind, at) => void oldest.set(kind, at),
  }
}
