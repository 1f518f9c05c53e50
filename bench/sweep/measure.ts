/**
 * What one pair of worker counts holds: a node of its own, as much as it takes, then the highest fixed rate
 * that is answered in time.
 */
import { loadFrom } from '../../src/server/cli/operator/doctor-load.ts'
import { coresSince, cpuTimes, type Cores, type NodeLoad } from '../../src/server/observe/load-advice.ts'
import { processRow, treeCpuS } from '../../test/support/load/process-cpu.ts'
import { proportionalBytes, watchMemory } from '../../test/support/load/process-memory.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import { ceilingOf, openLoop, type Found, type SweepLoad } from './load.ts'

export interface Ceiling extends Found {
  readonly cpuUs: number
  /** Cores that were busy on average: of the node's processes, of the provider that stands in for others. */
  readonly serverCores: number
  readonly mockCores: number
  readonly cores: Cores
  /**
   * The most that all processes had resident together, and what they had at the end with shared pages counted
   * once.
   */
  readonly rssMb: number
  readonly ownMb: number
  /** What the node told of its fronts under this load: what `sluice doctor` would have seen. */
  readonly told: NodeLoad
}

export interface Measured {
  readonly ceiling: Ceiling
  /** Null: not even the lowest rate that was tried was answered in time. */
  readonly held: Found | null
}

/** Milliseconds before anything counts: code is compiled and pools are filled. */
const WARM_MS = 2_000
/** Shares of the ceiling between which the highest rate in time is looked for, and halvings of that span. */
const SPAN: readonly [number, number] = [0.4, 1]
const HALVINGS = 4
/** Of the rate that was offered, so much must be answered. */
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

/** By halves of the span, what was found at the highest rate that was held. @param ask null: not held */
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

/** A load with what it cost the node, and what that told of itself. */
export async function accounted(stand: Stand, run: () => Promise<Found>): Promise<Ceiling> {
  const memory = watchMemory(stand.pid)
  // What the node tells is since it was last asked.
  await stand.admin('/metrics')
  const before = {
    at: performance.now(),
    server: treeCpuS(stand.pid),
    mock: mockCpuS(stand),
    times: cpuTimes(),
  }
  const found = await run()
  const seconds = (performance.now() - before.at) / 1_000
  const cpuS = treeCpuS(stand.pid) - before.server
  const told = loadFrom((await stand.admin('/metrics')).text)
  memory.stop()
  return {
    ...found,
    cpuUs: (cpuS / Math.max(1, found.requests)) * 1e6,
    serverCores: cpuS / seconds,
    mockCores: (mockCpuS(stand) - before.mock) / seconds,
    cores: coresSince(before.times),
    rssMb: memory.peakBytes / 1e6,
    ownMb: proportionalBytes(stand.pid) / 1e6,
    told,
  }
}

function mockCpuS(stand: Stand): number {
  return processRow(stand.mock.pid)?.cpuS ?? 0
}
