import { runLoad } from '../test/support/load.ts'
import type { LoadResult } from '../test/support/load-plan.ts'
import { treeCpuS } from '../test/support/process-cpu.ts'
import { GENERATOR_CORES_MAX } from './record.ts'
import type { Target } from './target.ts'

export interface Sample {
  readonly target: string
  /** Microseconds of CPU of the server's whole process tree. */
  readonly cpuUs: number
  readonly requestsPerS: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly generatorCores: number
  readonly isGeneratorLimit: boolean
  /** Answers that were not good. */
  readonly failed: number
  readonly failures: readonly string[]
}

export interface Repeat {
  readonly loaded: Sample
  readonly alone: Sample
}

export interface Settings {
  readonly connections: number
  readonly durationMs: number
  readonly warmUpMs: number
  readonly repeats: number
}

/**
 * Drives each target in turn, `repeats` times over: what the machine does to one repeat, it does to all targets.
 * @returns per target its repeats, in order, so that ratios can be taken inside a repeat
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

/** Milliseconds at the head of a run that count for CPU but for no latency: connections open in them. */
const SETTLE_MS = 300

async function sample(
  target: Target,
  connections: number,
  durationMs: number,
  warmUpMs: number,
): Promise<Sample> {
  await target.before?.()
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
  return toSample(target, result, treeCpuS(target.pid) - cpuBefore)
}

function toSample({ name, successStatus = 200 }: Target, result: LoadResult, cpuS: number): Sample {
  return {
    target: name,
    cpuUs: (cpuS / Math.max(1, result.requestsWithWarmUp)) * 1e6,
    requestsPerS: (result.requests / result.measuredMs) * 1_000,
    p50Ms: result.latency.p50,
    p90Ms: result.latency.p90,
    p99Ms: result.latency.p99,
    generatorCores: result.generatorCores,
    isGeneratorLimit: result.generatorCores > GENERATOR_CORES_MAX,
    failed: result.requests - (result.statuses[successStatus] ?? 0),
    failures: result.failures,
  }
}

/** Starts each repeat with another target, so that none is always first after a pause. */
function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}
