import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client'
import { FAILURES, type FailureName } from '../../schemas/failures.ts'
import type { Meters } from '../ports/observe.ts'
import { FigureReader } from './history/figure-reader.ts'
import { LiveReader } from './live-reader.ts'
import { durationsOf, tallyOf } from './metric-table.ts'
import { watchMetrics } from './read-metrics.ts'
import { GAUGES, type Gauges } from './read-table.ts'
import { createStreamMeters } from './stream-metrics.ts'
import { watchProcess, type WatchedLoop } from './process-metrics.ts'
import { SettledCounts } from './history/columns.ts'

/** Metrics of one process in the JSON form of prom-client: plain data, fit for IPC. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** A figure of the node itself; totals are counters, all others are gauges. */
export interface Fact {
  readonly help: string
  readonly value: number
  readonly isTotal?: true
}

/** A gauge of the node itself that is broken down by a label. */
export interface DividedFact {
  readonly help: string
  readonly label: string
  /** By the value of the label. */
  readonly values: Readonly<Record<string, number>>
}

/** Figures of the node itself by metric name. */
export type Facts = Readonly<Record<string, Fact | DividedFact>>

export interface Metrics extends Meters {
  readonly registry: Registry
  /** The figures of the same process for the live view. */
  readonly live: LiveReader
  /** The figures since the previous reading, for the node's history. */
  readonly figures: Pick<FigureReader, 'read'>
  /** Finished calls by key and by model. */
  readonly settled: Pick<SettledCounts, 'add'>
  /** The sampling of the event loop, which becomes denser while the process works. */
  readonly loop: Pick<WatchedLoop, 'follow'>
  /** Counts one finished call. `overheadMs` is the time that the gateway itself added. */
  call(
    operation: string,
    call: { status: number; failure: FailureName | null; durationMs: number; overheadMs: number },
  ): void
  /** Counts one served call of an endpoint without a price. */
  unpriced(operation: string, provider: string): void
  broadcast(outcome: 'sent' | 'dropped' | 'failed', count: number): void
  /** Adds readings of modules that are created after the metrics; a second call adds further readings. */
  watch(gauges: Gauges): void
  snapshot(): Promise<Snapshot>
  close(): void
}

/**
 * Metrics of one process. Every label comes from a closed set: operation ids, failure names, the catalogue's
 * provider slugs. Counting adds to a number in a map; prom-client reads the numbers when the metrics are
 * read. Design §11.
 * @param front the front's slot; null for other processes
 */
export function createMetrics(front: number | null = null): Metrics {
  const registry = new Registry()
  const { calls, upstream, lookups, decisions, unpriced, traces } = talliesOf(registry)
  const duration = durationsOf(registry, 'sluice_request_seconds')
  const overhead = durationsOf(registry, 'sluice_overhead_seconds')
  const attempts = durationsOf(registry, 'sluice_upstream_seconds')
  const live = new LiveReader({ calls, durations: duration })
  live.attempts(upstream, ({ outcome = '' }) => isOurs(outcome))
  const watched: Gauges[] = []
  watchMetrics(registry, GAUGES, () => watched)
  live.add({ inFlight: () => watched.reduce((sum, { inFlight }) => sum + (inFlight?.() ?? 0), 0) })
  const streams = createStreamMeters(registry)
  live.add({ streams: () => streams.read() })
  const settled = new SettledCounts()
  const figures = new FigureReader({
    calls: () => live.readCalls(),
    attempts: () => live.readAttempts(),
    attemptDurations: attempts,
    streams: () => streams.series(),
    breakers: () => live.readBreakers(),
    settled,
  })
  const loop = watchProcess(registry, front)
  return {
    registry,
    live,
    figures,
    settled,
    loop,
    call(operation, { status, failure, durationMs, overheadMs }) {
      calls.add(1, operation, String(status), failure ?? '')
      duration.observe(operation, durationMs / 1000)
      overhead.observe(operation, overheadMs / 1000)
    },
    upstream(provider, outcome, durationMs) {
      upstream.add(1, provider, outcome)
      attempts.observe(provider, durationMs / 1000)
    },
    keyLookup(source) {
      lookups[source].count += 1
    },
    rateDecision(decision, source) {
      decisions[decision][source].count += 1
    },
    streams,
    unpriced: (operation, provider) => unpriced.add(1, operation, provider),
    broadcast: (outcome, count) => traces.add(count, outcome),
    watch: (gauges) => void watched.push(gauges),
    snapshot: () => registry.getMetricsAsJSON(),
    close() {
      loop.stop()
      live.close()
    },
  }
}

function talliesOf(registry: Registry) {
  const keys = tallyOf(registry, 'sluice_key_lookups_total')
  const rates = tallyOf(registry, 'sluice_rate_decisions_total')
  const by = (decision: string) => ({
    purse: rates.cell(decision, 'purse'),
    authority: rates.cell(decision, 'authority'),
    fallback: rates.cell(decision, 'fallback'),
  })
  return {
    calls: tallyOf(registry, 'sluice_requests_total'),
    upstream: tallyOf(registry, 'sluice_upstream_calls_total'),
    // Lookups are counted on the hot path: the counters are resolved once.
    lookups: {
      cache: keys.cell('cache'),
      unknown_cache: keys.cell('unknown_cache'),
      store: keys.cell('store'),
    },
    decisions: { admitted: by('admitted'), refused: by('refused') },
    unpriced: tallyOf(registry, 'sluice_unpriced_calls_total'),
    traces: tallyOf(registry, 'sluice_broadcast_traces_total'),
  }
}

/** True when the failure is not the caller's: failures caused by the input or the caller are no evidence about the provider. */
function isOurs(outcome: string): boolean {
  return outcome in FAILURES && FAILURES[outcome as FailureName].fault === 'ours'
}

/**
 * Prometheus text over the snapshots of all processes of a node: counters and histograms are summed, each
 * gauge uses its own aggregator.
 * @param facts figures of the node itself, by metric name
 */
export async function aggregate(snapshots: readonly Snapshot[], facts: Facts = {}): Promise<string> {
  const own = new Registry()
  for (const [name, fact] of Object.entries(facts)) addFact(own, name, fact)
  return AggregatorRegistry.aggregate(
    [...snapshots, await own.getMetricsAsJSON()].map((snapshot) => [...snapshot]),
  ).metrics()
}

function addFact(registry: Registry, name: string, fact: Fact | DividedFact): void {
  const declared = { name, help: fact.help, registers: [registry] }
  if ('value' in fact) {
    if (fact.isTotal === true) new Counter(declared).inc(fact.value)
    else new Gauge(declared).set(fact.value)
    return
  }
  const { label, values } = fact
  const gauge = new Gauge({ ...declared, labelNames: [label] })
  for (const [name, value] of Object.entries(values)) gauge.set({ [label]: name }, value)
}
