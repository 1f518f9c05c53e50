import type { LiveView, ReadinessView } from '../../../schemas/operator/live-view.ts'
import { asCalled } from '../../config/program-name.ts'
import { findingsOf, type Found } from '../../observe/findings.ts'
import type { Advice, Cores, NodeLoad } from '../../observe/load-advice.ts'
import { unpricedTiers } from '../../observe/unpriced-tiers.ts'
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
} from './live-figures.ts'
import { answeredSince } from './live-models.ts'
import type { ProcessSpans } from './live-spans.ts'
import type { OwnUsed } from './own-use.ts'
import { rounded } from '../../observe/durations.ts'

/** One look at a node. */
export interface LiveLook {
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
