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
import { Durations, CALL_BUCKETS, Tally } from './durations.ts'
import { FigureReader } from './history/figure-reader.ts'
import { LiveReader } from './live-reader.ts'
import { readMetrics } from './read-metrics.ts'
import { createStreamMeters } from './stream-metrics.ts'
import { watchProcess, type WatchedLoop } from './process-metrics.ts'
import { SettledCounts } from './history/columns.ts'

/** Metrics of one process in the JSON form of prom-client: plain data, fit for IPC. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Readings that are taken when the metrics are read. */
export interface Gauges {
  readonly inFlight?: () => number
  readonly shortJobsWaiting?: () => number
  /** Open connections of callers now, and connections refused since the start. */
  readonly connections?: () => { readonly open: number; readonly refused: number }
  /** Bytes of answers that wait for their readers. */
  readonly unreadBytes?: () => number
  /** Calls to models, and turns of streams, that waited for another organization, since the start. */
  readonly held?: () => { readonly calls: number; readonly turns: number }
  /** Log lines that were dropped because the reader was too slow, since the start. */
  readonly logLinesDropped?: () => number
  /** Scripts that Redis refused since the start, by the code of Redis. */
  readonly redisRefusals?: () => ReadonlyMap<string, number>
  /** Degraded modes by name; 1 while a mode is on. */
  readonly degraded?: () => Readonly<Record<string, boolean>>
}

/** A figure of the node itself; totals are counters, all others are gauges. */
export interface Fact {
  readonly help: string
  readonly value: number
  readonly isTotal?: true
}

/** A gauge of the node itself that a label divides. */
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
  /** What came since the last time, for the node's history. */
  readonly figures: Pick<FigureReader, 'read'>
  /** Finished calls by key and by model. */
  readonly settled: Pick<SettledCounts, 'add'>
  /** The sampling of the event loop, which follows the work of the process. */
  readonly loop: Pick<WatchedLoop, 'follow'>
  /** Counts one finished call. `overheadMs` is the time that the gateway itself added. */
  call(
    operation: string,
    call: { status: number; failure: FailureName | null; durationMs: number; overheadMs: number },
  ): void
  /** Counts one served call of an endpoint without a price. */
  unpriced(operation: string, provider: string): void
  broadcast(outcome: 'sent' | 'dropped' | 'failed', count: number): void
  /** Adds readings of modules that are created later than the metrics; a second call adds to the first. */
  watch(gauges: Gauges): void
  snapshot(): Promise<Snapshot>
  close(): void
}

/** Name of the counter of dropped log lines; the supervisor counts its own lines under the same name. */
export const LOG_LINES_DROPPED = 'sluice_log_lines_dropped_total'
/** Help text of that counter. */
export const LOG_LINES_DROPPED_HELP = 'Log lines dropped because the reader of the log was too slow.'

/** Seconds of the gateway's own time. */
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

/**
 * Metrics of one process. Every label comes from a closed set: operation ids, failure names, the catalogue's
 * provider slugs. Counting adds to a number in a map; prom-client reads the numbers when the metrics are
 * read. Design §11.
 * @param front the front's slot; null for other processes
 */
export function createMetrics(front: number | null = null): Metrics {
  const registry = new Registry()
  const { calls, upstream, lookups, decisions, unpriced, traces } = talliesOf(registry)
  const { duration, overhead, attempts } = durationsOf(registry)
  const live = new LiveReader({ calls, durations: duration })
  live.attempts(upstream, ({ outcome = '' }) => isOurs(outcome))
  const watched = watchReadings(registry)
  live.add({ inFlight: () => sum(watched, (gauges) => gauges.inFlight?.() ?? 0) })
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
  const calls = new Tally(
    registry,
    'sluice_requests_total',
    'Finished HTTP calls, by operation, HTTP status and failure, which is empty for successful calls.',
    ['operation', 'status', 'failure'],
  )
  const upstream = new Tally(
    registry,
    'sluice_upstream_calls_total',
    'Attempts to call a provider, by provider and outcome: ok or an error type.',
    ['provider', 'outcome'],
  )
  const keys = new Tally(
    registry,
    'sluice_key_lookups_total',
    'API key lookups, by source of the answer: cache, unknown_cache (keys known not to exist) or store (Postgres).',
    ['source'],
  )
  const rates = new Tally(
    registry,
    'sluice_rate_decisions_total',
    'Rate limit decisions, by decision and source: purse (requests set aside for a front), authority (Redis) or fallback (a front without Redis).',
    ['decision', 'source'],
  )
  const by = (decision: string) => ({
    purse: rates.cell(decision, 'purse'),
    authority: rates.cell(decision, 'authority'),
    fallback: rates.cell(decision, 'fallback'),
  })
  // Lookups are counted on the hot path: the cells are resolved once.
  const lookups = {
    cache: keys.cell('cache'),
    unknown_cache: keys.cell('unknown_cache'),
    store: keys.cell('store'),
  }
  const decisions = { admitted: by('admitted'), refused: by('refused') }
  const unpriced = new Tally(
    registry,
    'sluice_unpriced_calls_total',
    'Calls not fully charged because the endpoint or a tool of its provider has no price, by operation and provider.',
    ['operation', 'provider'],
  )
  const traces = new Tally(
    registry,
    'sluice_broadcast_traces_total',
    'Traces of calls for the trace collector, by outcome: sent, dropped or failed.',
    ['outcome'],
  )
  return { calls, upstream, lookups, decisions, unpriced, traces }
}

function durationsOf(registry: Registry) {
  const ofCalls = (name: string, help: string, bounds: readonly number[]) =>
    new Durations(registry, { name, help, labels: ['operation'], bounds })
  return {
    duration: ofCalls(
      'sluice_request_seconds',
      'Duration of calls in seconds, from the request to the end of the answer, by operation.',
      CALL_BUCKETS,
    ),
    overhead: ofCalls(
      'sluice_overhead_seconds',
      'Duration of calls in seconds, excluding the time spent waiting for providers, by operation.',
      OVERHEAD_BUCKETS,
    ),
    attempts: new Durations(registry, {
      name: 'sluice_upstream_seconds',
      help: 'Duration in seconds of attempts to call a provider, by provider.',
      labels: ['provider'],
      bounds: CALL_BUCKETS,
    }),
  }
}

/**
 * True when the failure is not the caller's: a fault of the input or the caller says nothing about the
 * provider.
 */
function isOurs(outcome: string): boolean {
  return outcome in FAILURES && FAILURES[outcome as FailureName].fault === 'ours'
}

/** Registers the metrics that are read on demand. @returns the list to which modules add their readings */
function watchReadings(registry: Registry): Gauges[] {
  const watched: Gauges[] = []
  const { gauge, counter } = readMetrics(registry, () => watched)
  const now = (name: string, help: string, read: (gauges: Gauges) => number) =>
    gauge(name, help, (all) => sum(all, read))
  const total = (name: string, help: string, read: (gauges: Gauges) => number) =>
    counter(name, help, (all) => sum(all, read))
  now('sluice_requests_in_flight', 'HTTP calls in progress.', (gauges) => gauges.inFlight?.() ?? 0)
  now(
    'sluice_short_jobs_waiting',
    'Short jobs (such as parsing a large body or encrypting a secret) waiting for a worker thread.',
    (gauges) => gauges.shortJobsWaiting?.() ?? 0,
  )
  now('sluice_connections', 'Open connections from clients.', (gauges) => gauges.connections?.().open ?? 0)
  now(
    'sluice_unread_answer_bytes',
    'Bytes of answers buffered for clients that read slowly.',
    (gauges) => gauges.unreadBytes?.() ?? 0,
  )
  total(
    'sluice_connections_refused_total',
    'Client connections refused because the connection limit was reached.',
    (gauges) => gauges.connections?.().refused ?? 0,
  )
  total(
    'sluice_model_calls_held_total',
    "Calls to text models delayed because their organization used more than its share of a front's event loop.",
    (gauges) => gauges.held?.().calls ?? 0,
  )
  total(
    'sluice_model_turns_held_total',
    'Event loop turns in which streams of one organization were paused so that streams of other organizations could run.',
    (gauges) => gauges.held?.().turns ?? 0,
  )
  total(LOG_LINES_DROPPED, LOG_LINES_DROPPED_HELP, (gauges) => gauges.logLinesDropped?.() ?? 0)
  watchDivided([registry], watched)
  return watched
}

/** The readings that a label divides. */
function watchDivided(registers: Registry[], watched: readonly Gauges[]): void {
  new Counter({
    name: 'sluice_redis_refusals_total',
    help: 'Scripts that Redis refused to run, by Redis error code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset()
      for (const gauges of watched)
        for (const [code, count] of gauges.redisRefusals?.() ?? []) this.inc({ code }, count)
    },
  })
  new Gauge({
    name: 'sluice_degraded',
    help: '1 while a process of the node works without the store named by the label mode (postgres or redis), else 0.',
    labelNames: ['mode'],
    registers,
    aggregator: 'max',
    collect() {
      for (const gauges of watched)
        for (const [mode, is] of Object.entries(gauges.degraded?.() ?? {})) this.set({ mode }, is ? 1 : 0)
    },
  })
}

/**
 * Prometheus text over the snapshots of all processes of a node: counters and histograms are summed, gauges
 * follow the aggregator of each.
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

function sum<T>(values: readonly T[], read: (value: T) => number): number {
  return values.reduce((total, value) => total + read(value), 0)
}
