import type {
  BreakerView,
  FrontView,
  LiveView,
  OperationView,
  ProviderView,
} from '../../../schemas/operator/live-view.ts'
import { frontLoadBetween } from '../../observe/front-metrics.ts'
import type { LiveReading } from '../../observe/live-reader.ts'
import type { FrontLoad } from '../../observe/load-advice.ts'
import type { StreamsReading } from '../../observe/stream-metrics.ts'
import { FIRST_OUTPUT_BUCKETS, quantileMs, rounded } from '../../observe/durations.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'
import { LIVE_LOOKS_KEPT } from '../../../schemas/operator/admin-port-limits.ts'
import type { ChildLook } from '../fleet/fleet.ts'

const MINUTE_S = 60
/** Share of failed attempts at which a provider counts as failing. Decision. */
const FAILING_SHARE = 0.5

/** Calls or attempts under one name. */
interface Sums {
  perSecond: number
  refusedPerSecond: number
  failedPerSecond: number
  /** All calls of the longer time. */
  all: number
  refused: number
  failed: number
  readonly buckets: number[]
}

/** Calls of all processes together, by operation. */
export function operationsOf(processes: readonly ProcessSpans[]): ReadonlyMap<string, Readonly<Sums>> {
  const found = new Map<string, Sums>()
  for (const { last, window } of processes) {
    eachCall(last, (operation, { all, refused, failed }) => {
      const sums = sumsOf(found, operation)
      const seconds = secondsOf(last)
      sums.perSecond += all / seconds
      sums.refusedPerSecond += refused / seconds
      sums.failedPerSecond += failed / seconds
    })
    eachCall(window, (operation, { all, refused, failed, buckets }) => {
      const sums = sumsOf(found, operation)
      sums.all += all
      sums.refused += refused
      sums.failed += failed
      buckets.forEach((count, at) => {
        sums.buckets[at] = (sums.buckets[at] ?? 0) + count
      })
    })
  }
  return found
}

export function operationViews(found: ReadonlyMap<string, Readonly<Sums>>): OperationView[] {
  return [...found]
    .filter(([, { all }]) => all > 0)
    .sort(([, a], [, b]) => b.all - a.all)
    .map(([operation, sums]) => ({
      operation,
      per_second: rounded(sums.perSecond),
      refused_per_second: rounded(sums.refusedPerSecond),
      failed_per_second: rounded(sums.failedPerSecond),
      p50_ms: quantileMs(sums.buckets, 0.5),
      p99_ms: quantileMs(sums.buckets, 0.99),
    }))
}

/** Calls answered with 4xx over the longer time, by code. */
export function refusalsOf(processes: readonly ProcessSpans[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const {
    window: { from, to },
  } of processes) {
    for (const [code, count] of Object.entries(to.refusals))
      found.set(code, (found.get(code) ?? 0) + count - (from.refusals[code] ?? 0))
  }
  return found
}

export function providerViews(processes: readonly ProcessSpans[], now: Date): ProviderView[] {
  const found = new Map<string, Sums>()
  for (const { last, window } of processes) {
    eachAttempt(last, (provider, { all, failed }) => {
      const sums = sumsOf(found, provider)
      sums.perSecond += all / secondsOf(last)
      sums.failedPerSecond += failed / secondsOf(last)
    })
    eachAttempt(window, (provider, { all, failed }) => {
      const sums = sumsOf(found, provider)
      sums.all += all
      sums.failed += failed
    })
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([provider, { perSecond, failedPerSecond, all, failed }]) => {
      const breaker = breakerOf(provider, processes, now)
      return {
        provider,
        per_second: rounded(perSecond),
        failed_per_second: rounded(failedPerSecond),
        state:
          breaker !== null ? 'open' : all === 0 ? 'idle' : failed >= all * FAILING_SHARE ? 'failing' : 'ok',
        breaker,
      }
    })
}

/** The breaker of a provider. Each front has its own; the first opening and the next probe of all of them are shown. */
function breakerOf(provider: string, processes: readonly ProcessSpans[], now: Date): BreakerView | null {
  const open = processes.flatMap(({ last: { to } }) =>
    to.breakers.filter((one) => one.provider === provider).flatMap((one) => one.open),
  )
  if (open.length === 0) return null
  const probeInMs = Math.min(...open.map((one) => one.probeInMs))
  return {
    endpoints: [...new Set(open.map(({ endpoint }) => endpoint))].sort(),
    since: secondOf(now.getTime() - Math.max(...open.map(({ openForMs }) => openForMs))),
    next_probe_at: probeInMs === 0 ? null : secondOf(now.getTime() + probeInMs),
  }
}

/** Instant in whole seconds: readings arrive by IPC, so milliseconds would differ from one look to the next. */
function secondOf(ms: number): string {
  return new Date(Math.round(ms / 1_000) * 1_000).toISOString()
}

export function frontViews(processes: readonly ProcessSpans[]): FrontView[] {
  return processes
    .flatMap(({ pid, last: { from, to } }) => {
      if (from.front === null || to.front === null) return []
      const { slot, delay, load } = to.front
      const { loopShare, pools } = frontLoadBetween(from.front.load, load)
      const threads = { short_jobs: load.shortJobs.threads, sessions: load.sessions.threads }
      return [
        {
          front: slot,
          pid,
          loop_p50_ms: rounded(delay.p50Ms),
          loop_p99_ms: rounded(delay.p99Ms),
          loop_max_ms: rounded(delay.maxMs),
          utilization: rounded(loopShare),
          pools: (['short_jobs', 'sessions'] as const).map((pool) => ({
            pool,
            threads: threads[pool],
            wait_ms: rounded(pools[pool].waitS * 1_000),
            utilization: rounded(pools[pool].share),
          })),
        },
      ]
    })
    .sort((a, b) => a.front - b.front || a.pid - b.pid)
}

/** The loads over the longer time, for advice, which should not change every second. */
export function frontLoads(processes: readonly ProcessSpans[]): readonly FrontLoad[] {
  return processes.flatMap(({ window: { from, to } }) => {
    if (from.front === null || to.front === null) return []
    const {
      loopShare,
      pools: { sessions, short_jobs: shortJobs },
    } = frontLoadBetween(from.front.load, to.front.load)
    return [
      {
        slot: to.front.slot,
        loopShare,
        loopDelayMs: to.front.delay.p99Ms,
        sessionWaitMs: sessions.waitS * 1_000,
        sessionShare: sessions.share,
        shortWaitMs: shortJobs.waitS * 1_000,
      },
    ]
  })
}

const NO_STREAMS: StreamsReading = {
  open: 0,
  firstCounts: [],
  tokens: 0,
  cuts: {},
  models: [],
  unpricedTiers: [],
}

export function streamsView(processes: readonly ProcessSpans[]): Omit<LiveView['streams'], 'cut' | 'models'> {
  const firstCounts = new Array<number>(FIRST_OUTPUT_BUCKETS.length + 1).fill(0)
  let tokensPerS = 0
  for (const { window } of processes) {
    const [from, to] = [window.from.streams ?? NO_STREAMS, window.to.streams ?? NO_STREAMS]
    tokensPerS += (to.tokens - from.tokens) / secondsOf(window)
    for (const [at, count] of to.firstCounts.entries())
      firstCounts[at] = (firstCounts[at] ?? 0) + count - (from.firstCounts[at] ?? 0)
  }
  return {
    open: sumOf(processes, ({ to }) => to.streams?.open ?? 0),
    ttft_p50_ms: quantileMs(firstCounts, 0.5, FIRST_OUTPUT_BUCKETS),
    ttft_p99_ms: quantileMs(firstCounts, 0.99, FIRST_OUTPUT_BUCKETS),
    tokens_per_second: rounded(tokensPerS),
  }
}

export function moneyView(processes: readonly ProcessSpans[]): LiveView['money'] {
  const found = {
    calls_open: 0,
    calls_waiting: 0,
    refused_per_second: 0,
    journal_lag_ms: 0,
    is_journal_broken: false,
  }
  let heldNano = 0
  let spentNanoPerS = 0
  for (const { last, window } of processes) {
    const { money } = last.to
    if (money === null) continue
    const refused = unpaid(last.to) - unpaid(last.from)
    found.calls_open += money.open
    found.calls_waiting += money.waiting
    found.refused_per_second += refused / secondsOf(last)
    heldNano += money.heldNano
    spentNanoPerS += (money.spentNano - (window.from.money?.spentNano ?? 0)) / secondsOf(window)
    found.journal_lag_ms = Math.max(found.journal_lag_ms, rounded(money.flushLagS * 1_000))
    found.is_journal_broken ||= money.isJournalBroken
  }
  return {
    ...found,
    refused_per_second: rounded(found.refused_per_second),
    spent_usd_per_minute: usdOfNano(Math.round(spentNanoPerS * MINUTE_S)),
    held_usd: usdOfNano(heldNano),
  }
}

function unpaid({ money }: LiveReading): number {
  return money === null ? 0 : Object.values(money.refusals).reduce((sum, count) => sum + count, 0)
}

/** Jobs that runners hold, by state. */
export function heldVideos(processes: readonly ProcessSpans[]): Record<string, number> {
  const held: Record<string, number> = {}
  for (const {
    last: { to },
  } of processes) {
    for (const [state, count] of Object.entries(to.heldVideos ?? {})) held[state] = (held[state] ?? 0) + count
  }
  return held
}

/** Counts of webhooks. Every runner counts the deliveries of all runners, so the largest figure stands for all. */
export function webhooksView(processes: readonly ProcessSpans[]): LiveView['webhooks'] {
  const counts = processes.flatMap(({ last: { to } }) => (to.deliveries === null ? [] : [to.deliveries]))
  if (counts.length === 0) return null
  return {
    waiting: Math.max(...counts.map(({ waiting }) => waiting)),
    dead: Math.max(...counts.map(({ dead }) => dead)),
  }
}

export function sumOf(processes: readonly ProcessSpans[], read: (span: Span) => number): number {
  return processes.reduce((sum, { last }) => sum + read(last), 0)
}

/** Seconds of a span; never 0, since rates divide by it. */
export function secondsOf({ from, to }: Span): number {
  return Math.max(1e-3, (to.atMs - from.atMs) / 1_000)
}

interface Calls {
  readonly all: number
  readonly refused: number
  readonly failed: number
  readonly buckets: readonly number[]
}

function eachCall({ from, to }: Span, tell: (operation: string, calls: Calls) => void): void {
  const before = new Map(from.calls.map((one) => [one.operation, one]))
  for (const { operation, counts, refused, failed } of to.calls) {
    const last = before.get(operation)
    const buckets = counts.map((count, at) => count - (last?.counts[at] ?? 0))
    const all = buckets.reduce((sum, count) => sum + count, 0)
    tell(operation, {
      all,
      refused: refused - (last?.refused ?? 0),
      failed: failed - (last?.failed ?? 0),
      buckets,
    })
  }
}

function eachAttempt(
  { from, to }: Span,
  tell: (provider: string, attempts: Pick<Calls, 'all' | 'failed'>) => void,
): void {
  const before = new Map(from.providers.map((one) => [one.provider, one]))
  for (const { provider, attempts, failed } of to.providers) {
    const last = before.get(provider)
    tell(provider, { all: attempts - (last?.attempts ?? 0), failed: failed - (last?.failed ?? 0) })
  }
}

function sumsOf(found: Map<string, Sums>, name: string): Sums {
  const known = found.get(name)
  if (known !== undefined) return known
  const sums: Sums = {
    perSecond: 0,
    refusedPerSecond: 0,
    failedPerSecond: 0,
    all: 0,
    refused: 0,
    failed: 0,
    buckets: [],
  }
  found.set(name, sums)
  return sums
}

interface Span {
  readonly from: LiveReading
  readonly to: LiveReading
}

/** The spans of one process: since the previous look, and since the oldest kept reading. */
export interface ProcessSpans {
  readonly pid: number
  readonly last: Span
  readonly window: Span
}

/** Keeps the latest readings of each process, from which differences are computed. */
export class LiveSpans {
  readonly #kept = new Map<string, readonly LiveReading[]>()

  /** Adds a look. @returns the processes that answered in this look and the previous one */
  take(looks: readonly ChildLook[]): readonly ProcessSpans[] {
    const alive = new Set(looks.map(({ id }) => id))
    for (const id of this.#kept.keys()) if (!alive.has(id)) this.#kept.delete(id)
    return looks.flatMap((look) => this.#spansOf(look))
  }

  #spansOf({ id, pid, reading }: ChildLook): readonly ProcessSpans[] {
    if (reading === null) return []
    const kept = this.#kept.get(id) ?? []
    this.#kept.set(id, [...kept, reading].slice(-LIVE_LOOKS_KEPT))
    const [oldest, latest] = [kept[0], kept.at(-1)]
    if (oldest === undefined || latest === undefined) return []
    return [{ pid, last: { from: latest, to: reading }, window: { from: oldest, to: reading } }]
  }
}
