/** The two loads of a sweep: a closed loop, and a fixed rate. */
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadLatency, LoadPlan, LoadResult } from '../../test/support/load/load-plan.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { mixedCeiling, startMixedLoad } from '../mixed/load.ts'
import { MIXED_KINDS } from '../mixed/mix.ts'
import type { Mix } from './options.ts'

export interface SweepLoad {
  readonly mix: Mix
  readonly connections: number
  readonly durationMs: number
}

export interface Found {
  readonly ratePerS: number
  /** Milliseconds of embeddings calls: files of 20 MB have other measures. */
  readonly latency: LoadLatency
  readonly requests: number
  readonly failed: number
  readonly failures: readonly string[]
  /** Cores of the busiest generator process. */
  readonly generatorCores: number
}

export async function ceilingOf(stand: Stand, { mix, connections, durationMs }: SweepLoad): Promise<Found> {
  const result =
    mix === 'mixed'
      ? await mixedCeiling(stand, { connections, durationMs })
      : await runLoad({ ...planOf(stand, { mix, connections, durationMs }), pace: { kind: 'closed' } })
  return foundOf(result, result)
}

export async function openLoop(stand: Stand, load: SweepLoad, ratePerS: number): Promise<Found> {
  if (load.mix === 'embeddings') {
    const result = await runLoad({
      ...planOf(stand, load),
      pace: { kind: 'open', ratePerS },
      warmUpMs: SETTLE_MS,
    })
    return foundOf(result, result)
  }
  const { connections, durationMs } = load
  const { kinds, failed, failures } = await (
    await startMixedLoad(stand, { ratePerS, connections, durationMs, warmUpMs: SETTLE_MS })
  ).result
  const all = MIXED_KINDS.map((kind) => foundOf(kinds[kind], kinds[kind]))
  return {
    ratePerS: all.reduce((sum, one) => sum + one.ratePerS, 0),
    latency: kinds.embeddings.latency,
    requests: all.reduce((sum, one) => sum + one.requests, 0),
    failed,
    failures,
    generatorCores: Math.max(...all.map((one) => one.generatorCores)),
  }
}

/** Milliseconds at the head of a fixed rate that are not counted: connections open in them. */
const SETTLE_MS = 300

function planOf(
  stand: Stand,
  { connections, durationMs }: SweepLoad,
): Pick<LoadPlan, 'host' | 'port' | 'connections' | 'durationMs' | 'requests'> {
  return { host: '127.0.0.1', port: stand.port, connections, durationMs, requests: [stand.embeddings()] }
}

export function foundOf(result: LoadResult, { latency }: Pick<LoadResult, 'latency'>): Found {
  const isGood = (status: string): boolean => status === '200' || status === '202'
  const good = Object.entries(result.statuses).reduce(
    (sum, [status, count]) => sum + (isGood(status) ? count : 0),
    0,
  )
  const wrong = Object.entries(result.statuses).filter(([status]) => status !== '0' && !isGood(status))
  return {
    ratePerS: (good / result.measuredMs) * 1_000,
    latency,
    requests: result.requests,
    failed: result.requests === 0 ? 1 : result.requests - good,
    failures: [
      ...wrong.map(([status, times]) => `status ${status}, ${times} times`),
      ...result.failures,
    ].slice(0, 3),
    generatorCores: result.generatorCores,
  }
}
