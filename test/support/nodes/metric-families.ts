import { factsOf } from '../../../src/server/main/node-facts.ts'
import { frontLoads } from '../../../src/server/observe/front-metrics.ts'
import { countsOf } from '../../../src/server/observe/metric-table.ts'
import { createMetrics } from '../../../src/server/observe/metrics.ts'
import { watchMetrics } from '../../../src/server/observe/read-metrics.ts'
import { BREAKERS, FRONT_LOAD, HELD_VIDEOS, MONEY, SESSIONS } from '../../../src/server/observe/read-table.ts'
import {
  createRetentionMeters,
  createVideoMeters,
  createWebhookMeters,
} from '../../../src/server/observe/runner-metrics.ts'

/** A metric as the code declares it. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
  /** What a node shows of the values of its processes; null: a figure of the node itself. */
  readonly aggregator: string | null
}

/** Every figure of a node itself: nodes without TLS or without a backup leave some out. */
export const NODE_FACTS = factsOf(
  {
    fronts: { ready: 1, wanted: 1, configured: 1 },
    workers: { ready: 1, wanted: 1, configured: 1 },
    runners: { ready: 1, wanted: 1 },
    restarts: 0,
    hangs: 0,
    isPostgresUp: true,
    isRedisUp: true,
    isStorageUp: true,
    figures: {
      disks: [{ place: 'data', freeBytes: 1, sizeBytes: 2 }],
      certificateEndsAt: new Date(0),
      store: {
        connections: { used: 1, allowed: 2 },
        abandonedJournals: 0,
        moneyStepsBehind: 0,
        backedUpAt: new Date(0),
        clockSkewMs: 0,
      },
    },
  },
  0,
)

/** Every metric that the code declares. */
export function metricFamilies(): readonly MetricFamily[] {
  const ofNode = Object.entries(NODE_FACTS).map(([name, fact]): MetricFamily => ({
    ...{ name, help: fact.help, type: 'isTotal' in fact ? 'counter' : 'gauge' },
    ...{ labels: 'label' in fact ? [fact.label] : [], aggregator: null },
  }))
  return [...ofProcesses(), ...ofNode]
}

function ofProcesses(): readonly MetricFamily[] {
  const metrics = createMetrics(0)
  const { registry } = metrics
  const unread = (): never => {
    throw new Error('the values are not read')
  }
  const pool = { threads: 1, begun: 0, waitS: 0, busyS: 0 }
  watchMetrics(registry, MONEY, unread)
  watchMetrics(registry, SESSIONS, unread)
  watchMetrics(registry, BREAKERS, unread)
  const load = { loop: { active: 0, idle: 0 }, shortJobs: pool, sessions: pool, nowMs: 0 }
  watchMetrics(
    registry,
    FRONT_LOAD,
    frontLoads(0, () => load),
  )
  createVideoMeters(metrics, [])
  watchMetrics(registry, HELD_VIDEOS, unread)
  createWebhookMeters(registry, unread)
  createRetentionMeters(registry, unread)
  countsOf(registry, 'sluice_generation_records_total')
  countsOf(registry, 'sluice_request_log_calls_total')
  metrics.close()
  return registry.getMetricsAsArray().map((metric) => {
    const { name, help, type, labelNames, aggregator } = metric as unknown as Omit<MetricFamily, 'labels'> & {
      readonly labelNames: readonly string[]
    }
    return { name, help, type, labels: labelNames, aggregator }
  })
}
