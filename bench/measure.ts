import { runLoad } from '../test/support/load/load.ts'
import type { LoadResult } from '../test/support/load/load-plan.ts'
import { tree, treeCpuS } from '../test/support/load/process-cpu.ts'
import { heapFigures } from './heap/heap.ts'
import { resultRow, type LatencyRecord, type ResultRow, type SampleRecord } from './record.ts'
import type { Target } from './target.ts'
import { readMemory, totalOf } from './transfers/resources.ts'

export interface Repeat {
  readonly loaded: SampleRecord
  readonly alone: SampleRecord
}

export interface Settings {
  readonly connections: number
  readonly durationMs: number
  readonly warmUpMs: number
  readonly repeats: number
}

/**
 * Drives each target in turn, `repeats` times: a disturbance of the machine in one repeat affects all
 * targets.
 * @returns the repeats of each target, in order, so that ratios can be computed inside a repeat
 */
export async function interleave(
  targets: readonly Target[],
  settings: Settings,
  progress: (text: string) => void,
): Promise<ReadonlyMap<string, readonly Repeat[]>> {
  const found = new Map<string, Repeat[]>(targets.map((target) => [target.name, []]))
  for (const target of targets) {
    progress(`warming ${target.name}`)
    await sample(target, settings.connections, settings.warmUpMs, 0)
  }
  for (let repeat = 0; repeat < settings.repeats; repeat++) {
    for (const target of rotated(targets, repeat)) {
      progress(`repeat ${repeat + 1} of ${settings.repeats}: ${target.name}`)
      const loaded = await sample(target, settings.connections, settings.durationMs, SETTLE_MS)
      const alone = await sample(target, 1, settings.durationMs / 2, SETTLE_MS)
      found.get(target.name)?.push({ loaded, alone })
    }
  }
  return found
}

/** Milliseconds at the head of a run that count for CPU but not for latency: connections open in them. */
const SETTLE_MS = 300

async function sample(
  target: Target,
  connections: number,
  durationMs: number,
  warmUpMs: number,
): Promise<SampleRecord> {
  await target.before?.()
  const heapBefore = (await target.heap?.()) ?? null
  const cpuBefore = treeCpuS(target.pid)
  const result = await runLoad({
    host: '127.0.0.1',
    port: target.port,
    connections,
    durationMs,
    warmUpMs,
    pace: { kind: 'closed' },
    requests: [target.request],
  })
  const cpuS = treeCpuS(target.pid) - cpuBefore
  const heapAfter = (await target.heap?.()) ?? null
  const figures = heapFigures(heapBefore, heapAfter, result.requestsWithWarmUp)
  const found = sampleOf(result, {
    cpuS,
    rssBytes: totalOf(readMemory(tree(target.pid))),
    successStatus: target.successStatus ?? 200,
  })
  return target.heap === undefined ? found : { ...found, figures }
}

export interface EngineDeps {
  /** CPU seconds of the server's whole process tree, from before the load to after it. */
  readonly cpuS: number
  /** Resident bytes of all its processes. */
  readonly rssBytes: number | null
  readonly successStatus: number
}

export function sampleOf(result: LoadResult, { cpuS, rssBytes, successStatus }: EngineDeps): SampleRecord {
  // 0 stands for an incomplete answer, whose reason is among the failures.
  const wrong = Object.keys(result.statuses).filter(
    (status) => !['0', String(successStatus)].includes(status),
  )
  const isNothing = result.requests === 0
  return {
    cpu_us_per_request: (cpuS / Math.max(1, result.requestsWithWarmUp)) * 1e6,
    cpu_s_per_gb: null,
    requests_per_second: answeredPerS(result),
    mb_per_second: null,
    ...(isNothing ? { latency_us: null } : latencyFigures(result)),
    rss_mb: rssBytes === null ? null : rssBytes / 1e6,
    generator_cores: result.generatorCores,
    // A server without connections refuses nothing and costs nothing.
    failed: isNothing ? 1 : result.requests - (result.statuses[successStatus] ?? 0),
    failures: isNothing
      ? ['nothing was answered']
      : [...wrong.map((status) => `status ${status}`), ...result.failures].slice(0, 3),
  }
}

/** Answers a second, good or not: requests that were never sent or answered are no throughput. */
export function answeredPerS({
  requests,
  statuses,
  measuredMs,
}: Pick<LoadResult, 'requests' | 'statuses' | 'measuredMs'>): number {
  return ((requests - (statuses[0] ?? 0)) / measuredMs) * 1_000
}

/** The latencies of a load as a sample has them: some percentiles, and the whole distribution. */
export function latencyFigures(
  result: Pick<LoadResult, 'latency'>,
): Pick<SampleRecord, 'latency_us' | 'latency_by_percent_us'> {
  const shares = Object.entries(result.latency.byPercent)
  return {
    latency_us: latencyUs(result),
    latency_by_percent_us: Object.fromEntries(shares.map(([percent, ms]) => [percent, ms * 1_000])),
  }
}

/** Converts milliseconds to microseconds. */
export function latencyUs({
  latency: { p50, p90, p99, p99_9, max },
}: {
  readonly latency: LatencyRecord<number>
}): LatencyRecord<number> {
  const us = (ms: number): number => ms * 1_000
  return { p50: us(p50), p90: us(p90), p99: us(p99), p99_9: us(p99_9), max: us(max) }
}

/** Rows of each target under load and on one connection. */
export function rowsOf(
  scenario: string,
  found: ReadonlyMap<string, readonly Repeat[]>,
  { connections }: Settings,
): readonly ResultRow[] {
  const rows = (name: string, at: number, read: (repeat: Repeat) => SampleRecord): readonly ResultRow[] =>
    [...found].map(([subject, repeats]) =>
      resultRow(
        {
          scenario,
          case: name,
          subject,
          pace: 'closed',
          connections: at,
          offered_per_second: null,
          payload_bytes: null,
        },
        repeats.map(read),
      ),
    )
  return [
    ...rows(`${connections} connections`, connections, ({ loaded }) => loaded),
    ...rows(ALONE, 1, ({ alone }) => alone),
  ]
}

export const ALONE = 'one connection'

/** Starts each repeat with another target, so that no target is always first after a pause. */
export function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}
