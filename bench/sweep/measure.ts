/**
 * Measures one pair of worker counts: a new node, its ceiling, then the highest fixed rate that is answered
 * in time.
 */
import { loadFrom } from '../../src/server/cli/operator/doctor/workers.ts'
import { QuotaWatch } from '../../src/server/config/quota-watch.ts'
import { coresSince, cpuTimes, type Cores, type NodeLoad } from '../../src/server/observe/load-advice.ts'
import { processRow, treeCpuS } from '../../test/support/load/process-cpu.ts'
import { proportionalBytes, watchMemory } from '../../test/support/load/process-memory.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { ceilingOf, openLoop, type Found, type SweepLoad } from './load.ts'

export interface Ceiling extends Found {
  readonly cpuUs: number
  /** Busy cores on average of the node's processes. */
  readonly serverCores: number
  /** Busy cores on average of the mock provider. */
  readonly mockCores: number
  readonly cores: Cores
  /** The most resident memory of all processes together. */
  readonly rssMb: number
  /** Memory of all processes at the end, with shared pages counted once. */
  readonly ownMb: number
  /** The load of the fronts in the node's own metrics: the input of `sluice doctor`. */
  readonly load: NodeLoad
}

export interface Measured {
  readonly ceiling: Ceiling
  /** Null when even the lowest tried rate was not answered in time. */
  readonly held: Found | null
}

/** Milliseconds of warm-up: code is compiled and pools are filled. */
const WARM_MS = 2_000
/** Shares of the ceiling between which the highest rate in time is searched. */
const SPAN: readonly [number, number] = [0.4, 1]
/** Halvings of that span. */
const HALVINGS = 4
/** Share of the offered rate that must be answered. */
const ANSWERED_MIN = 0.95

export interface Bound {
  readonly p99Ms: number
  readonly progress: (text: string) => void
}

export async function measure(stand: Stand, load: SweepLoad, { p99Ms, progress }: Bound): Promise<Measured> {
  await ceilingOf(stand, { ...load, durationMs: WARM_MS })
  const ceiling = await accounted(stand, () => ceilingOf(stand, load))
  progress(`  ceiling ${ceiling.ratePerS.toFixed(0)}/s`)
  const held = await highestHeld(ceiling.ratePerS, async (ratePerS) => {
    const found = await openLoop(stand, load, ratePerS)
    const isHeld = isInTime(found, { ratePerS, p99Ms })
    progress(
      `  ${ratePerS.toFixed(0)}/s: p99 ${found.latency.p99.toFixed(1)} ms, ${isHeld ? 'held' : 'not held'}`,
    )
    return isHeld ? found : null
  })
  return { ceiling, held }
}

/**
 * Searches by halving the span. @param ask measures a rate; null: the rate was not held @returns the result
 * at the highest held rate
 */
export async function highestHeld<T>(
  ceilingPerS: number,
  ask: (ratePerS: number) => Promise<T | null>,
): Promise<T | null> {
  let held: T | null = null
  let [low, high] = SPAN
  for (let step = 0; step < HALVINGS; step++) {
    const share = (low + high) / 2
    const found = await ask(ceilingPerS * share)
    if (found === null) high = share
    else [held, low] = [found, share]
  }
  return held
}

export function isInTime(
  found: Pick<Found, 'ratePerS' | 'latency' | 'failed'>,
  offered: { readonly ratePerS: number; readonly p99Ms: number },
): boolean {
  return (
    found.failed === 0 &&
    found.latency.p99 <= offered.p99Ms &&
    found.ratePerS >= offered.ratePerS * ANSWERED_MIN
  )
}

/** A load with its cost for the node and the node's own metrics. */
export async function accounted(stand: Stand, run: () => Promise<Found>): Promise<Ceiling> {
  const memory = watchMemory(stand.pid)
  // The node's metrics count since the last read.
  await stand.admin('/metrics')
  const before = {
    at: performance.now(),
    server: treeCpuS(stand.pid),
    mock: mockCpuS(stand),
    times: cpuTimes(),
    quota: new QuotaWatch(),
  }
  const found = await run()
  const seconds = (performance.now() - before.at) / 1_000
  const cpuS = treeCpuS(stand.pid) - before.server
  const load = loadFrom((await stand.admin('/metrics')).text)
  memory.stop()
  return {
    ...found,
    cpuUs: (cpuS / Math.max(1, found.requests)) * 1e6,
    serverCores: cpuS / seconds,
    mockCores: (mockCpuS(stand) - before.mock) / seconds,
    cores: coresSince(before.times, before.quota.look()),
    rssMb: memory.peakBytes / 1e6,
    ownMb: proportionalBytes(stand.pid) / 1e6,
    load,
  }
}

function mockCpuS(stand: Stand): number {
  return processRow(stand.mock.pid)?.cpuS ?? 0
}
