import { setTimeout as after } from 'node:timers/promises'
import { LIVE_FIRST_MS, LIVE_LOOK_MS, LIVE_MODELS_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import type { LiveView, ModelView, ReadinessView } from '../../../schemas/operator/live-view.ts'
import { QuotaWatch } from '../../config/quota-watch.ts'
import { type Advice, type Cores, coresSince, cpuTimes, type NodeLoad } from '../../observe/load-advice.ts'
import type { Log } from '../../ports/observe.ts'
import { asCalled } from '../../config/program-name.ts'
import { findingsOf, type Found } from '../../observe/findings.ts'
import { unpricedTiers } from '../../observe/unpriced-tiers.ts'
import { rounded } from '../../observe/durations.ts'
import type { ModelReading } from '../../observe/stream-metrics.ts'
import type { ChildLook } from '../fleet/fleet.ts'
import {
  frontLoads,
  frontViews,
  heldVideos,
  moneyView,
  operationsOf,
  operationViews,
  providerViews,
  refusalsOf,
  secondsOf,
  streamsView,
  sumOf,
  webhooksView,
  LiveSpans,
  type ProcessSpans,
} from './live-figures.ts'

export interface LiveSource {
  readonly version: string
  readonly log: Pick<Log, 'error'>
  /** Null before the node is up, and again after the drain has begun. */
  readiness(): ReadinessView | null
  /** Advice of `doctor` about conditions without a counter; computed for each view. */
  advice(): readonly Advice[]
  /** The command by which the operator started the node. */
  readonly command: string
  /** Reads every serving process. Never rejects. */
  looks(): Promise<readonly ChildLook[]>
  /** Milliseconds between two looks; LIVE_LOOK_MS when absent. */
  readonly lookMs?: number
}

/** Receives the JSON of a live view; null: no further view follows. */
export type LiveListener = (json: string | null) => void

/**
 * The one collector of live views. The first listener starts it, and the end of the last one stops it.
 * For any number of listeners the collector reads the processes once a second and writes the view once; the
 * first two readings are closer, so that the first view comes soon.
 */
export class LiveFeed {
  readonly #source: LiveSource
  readonly #listeners = new Set<LiveListener>()
  /** The last view; null before the first one and while the feed is stopped. */
  #latest: string | null = null
  #isRunning = false
  #isClosed = false

  constructor(source: LiveSource) {
    this.#source = source
  }

  /** Sends the last view at once, if the feed is running. @returns a function that ends the subscription */
  subscribe(listener: LiveListener): () => void {
    if (this.#latest !== null) listener(this.#latest)
    return this.#add(listener)
  }

  /** The next view, within about two seconds; null when none follows. */
  once(): Promise<string | null> {
    return new Promise((resolve) => {
      const leave = this.#add((json) => {
        leave()
        resolve(json)
      })
    })
  }

  /** Ends all subscriptions, since the node is ending. */
  close(): void {
    this.#isClosed = true
    this.#tell(null)
  }

  #add(listener: LiveListener): () => void {
    this.#listeners.add(listener)
    if (!this.#isRunning) void this.#run()
    return () => void this.#listeners.delete(listener)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    const { lookMs = LIVE_LOOK_MS } = this.#source
    const spans = new LiveSpans()
    const own = new OwnUse()
    const quota = new QuotaWatch()
    try {
      spans.take(await this.#source.looks())
      let [times, waitMs] = [cpuTimes(), Math.min(lookMs, LIVE_FIRST_MS)]
      for (;;) {
        await after(waitMs, undefined, { ref: false })
        if (this.#listeners.size === 0) break
        const began = performance.now()
        const before = times
        times = cpuTimes()
        this.#tell(await this.#look(spans, own, coresSince(before, quota.look(), times)))
        waitMs = Math.max(0, lookMs - (performance.now() - began))
      }
    } catch (cause) {
      this.#source.log.error('live_view_failed', { cause })
      this.#tell(null)
    } finally {
      this.#isRunning = false
      this.#latest = null
    }
  }

  async #look(spans: LiveSpans, own: OwnUse, cores: Cores): Promise<string | null> {
    const looks = await this.#source.looks()
    const readiness = this.#source.readiness()
    if (readiness === null || this.#isClosed) return null
    const silent = looks.filter(({ reading }) => reading === null)
    const { version, command } = this.#source
    const advice = this.#source.advice()
    const view = liveView({
      version,
      command,
      readiness,
      processes: spans.take(looks),
      silent,
      own: own.read(),
      cores,
      advice,
      now: new Date(),
    })
    return JSON.stringify(view)
  }

  #tell(json: string | null): void {
    this.#latest = json
    for (const listener of [...this.#listeners]) listener(json)
    if (json === null) this.#listeners.clear()
  }
}

interface LiveLook {
  readonly version: string
  readonly now: Date
  readonly readiness: ReadinessView
  readonly processes: readonly ProcessSpans[]
  /** Processes that did not answer in time. */
  readonly silent: readonly ChildLook[]
  /** CPU and memory of the supervisor. */
  readonly own: OwnUsed
  /** Cores of the machine since the previous look. */
  readonly cores: Cores
  /** Advice of `doctor` about conditions without a counter. */
  readonly advice: readonly Advice[]
  /** The command by which the operator started the node. */
  readonly command: string
}

/** The live view of the dashboard and the terminal, made from the readings of the processes. */
export function liveView({
  version,
  now,
  readiness,
  processes,
  silent,
  own,
  cores,
  advice,
  command,
}: LiveLook): LiveView {
  const operations = operationsOf(processes)
  const sums = [...operations.values()]
  const view = {
    at: now.toISOString(),
    version,
    readiness,
    seconds: rounded(own.seconds),
    quantile_seconds: rounded(Math.max(own.seconds, ...processes.map(({ window }) => secondsOf(window)))),
    requests_per_second: rounded(sums.reduce((sum, { perSecond }) => sum + perSecond, 0)),
    refused_per_second: rounded(sums.reduce((sum, { refusedPerSecond }) => sum + refusedPerSecond, 0)),
    failed_per_second: rounded(sums.reduce((sum, { failedPerSecond }) => sum + failedPerSecond, 0)),
    operations: operationViews(operations),
    fronts: frontViews(processes),
    cpu_share: rounded(
      own.cpuShare + sumOf(processes, ({ from, to }) => (to.cpuS - from.cpuS) / secondsOf({ from, to })),
    ),
    memory_bytes: own.memoryBytes + sumOf(processes, ({ to }) => to.memoryBytes),
    inflight: sumOf(processes, ({ to }) => to.inFlight),
    streams: { ...streamsView(processes), ...answeredSince(processes) },
    providers: providerViews(processes, now),
    videos: { held: heldVideos(processes) },
    webhooks: webhooksView(processes),
    money: moneyView(processes),
  }
  const calls = { ...callsOf(operations), codes: refusalsOf(processes) }
  const tiers = unpricedTiers(processes.flatMap(({ last }) => last.to.streams?.unpricedTiers ?? []))
  const load = loadOf(readiness, processes)
  const findings = findingsOf({
    ...{ view, calls, silent, cores, load },
    advice: tiers === null ? advice : [...advice, tiers],
  })
  return { ...view, findings: findings.map((one) => ({ ...one, fix: asCalled(one.fix, command) })) }
}

function callsOf(operations: ReturnType<typeof operationsOf>): Omit<Found['calls'], 'codes'> {
  let [all, refused, failed, worst, most] = [0, 0, 0, null as string | null, 0]
  for (const [operation, sums] of operations) {
    all += sums.all
    refused += sums.refused
    failed += sums.failed
    if (sums.failed > most) [worst, most] = [operation, sums.failed]
  }
  return { all, refused, failed, worst }
}

function loadOf({ fronts, workers, runners }: ReadinessView, processes: readonly ProcessSpans[]): NodeLoad {
  return {
    fronts: fronts.wanted,
    workers: workers.wanted,
    runners: runners.wanted,
    configured: { fronts: fronts.configured, workers: workers.configured },
    each: frontLoads(processes),
  }
}

/** Figures of the text models, of all processes together since they started. */
function answeredSince(processes: readonly ProcessSpans[]): Pick<LiveView['streams'], 'cut' | 'models'> {
  const fronts = processes.flatMap(({ last: { to } }) => to.streams ?? [])
  const cuts = new Map<string, number>()
  for (const front of fronts) addAll(cuts, front.cuts)
  return {
    cut: mostFirst(cuts).map(([cause, streams]) => ({ cause, streams })),
    models: modelViews(fronts.flatMap(({ models }) => models)),
  }
}

function modelViews(readings: readonly ModelReading[]): ModelView[] {
  const found = new Map<string, ModelSums>()
  for (const { model, inputTokens, cachedTokens, dropped } of readings) {
    const sums = found.get(model) ?? { inputTokens: 0, cachedTokens: 0, dropped: new Map<string, number>() }
    sums.inputTokens += inputTokens
    sums.cachedTokens += cachedTokens
    addAll(sums.dropped, dropped)
    found.set(model, sums)
  }
  return Array.from(found, ([model, { inputTokens, cachedTokens, dropped }]) => ({
    model,
    input_tokens: inputTokens,
    cached_share: inputTokens === 0 ? null : rounded(cachedTokens / inputTokens),
    dropped: mostFirst(dropped).map(([field, calls]) => ({ field, calls })),
  }))
    .sort((a, b) => b.input_tokens - a.input_tokens || a.model.localeCompare(b.model))
    .slice(0, LIVE_MODELS_MAX)
}

interface ModelSums {
  inputTokens: number
  cachedTokens: number
  readonly dropped: Map<string, number>
}

function addAll(sums: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count)
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || one.localeCompare(other))
}

/** CPU and memory that the supervisor itself uses. */
interface OwnUsed {
  /** Seconds since the previous look, or the start; never 0. */
  readonly seconds: number
  readonly cpuShare: number
  readonly memoryBytes: number
}

/** The supervisor's own CPU since the last look. */
class OwnUse {
  #cpu = process.cpuUsage()
  #atMs = performance.now()

  read(): OwnUsed {
    const { user, system } = process.cpuUsage(this.#cpu)
    const seconds = Math.max(1e-3, (performance.now() - this.#atMs) / 1_000)
    this.#cpu = process.cpuUsage()
    this.#atMs = performance.now()
    return { seconds, cpuShare: (user + system) / 1e6 / seconds, memoryBytes: process.memoryUsage.rss() }
  }
}
