import { setTimeout as sleep } from 'node:timers/promises'
import { rotated } from '../measure.ts'
import type { LatencyRecord } from '../record.ts'
import { runTransfers } from './load.ts'
import type { TransferResult } from './plan.ts'
import { cpuBetween, MemoryWatch, readCpu, totalOf, type CpuReading, type Memory } from './resources.ts'
import type { FileTarget } from './target.ts'

/** What is asked of a target. */
export interface Ask {
  readonly connections: number
  readonly payloadBytes: number
  readonly rounds: number
  readonly durationMs: number
  readonly readBytesPerS?: number
  readonly isCutAtEnd?: boolean
}

export interface TransferSample {
  readonly mbPerS: number
  readonly filesPerS: number
  readonly latencyMs: LatencyRecord<number>
  /** Seconds for 1e9 bytes of files. */
  readonly mainPerGb: number
  readonly threadsPerGb: number
  readonly restPerGb: number
  /** Cores that the server's processes used on average. */
  readonly serverCores: number
  readonly generatorCores: number
  /** Bytes of all processes together, before and at most. */
  readonly idle: Memory
  readonly peak: Memory
  /** Bytes of growth when what processes share is counted once. */
  readonly sharedOnceGrowth: number
  readonly loopP99Ms: number | null
  readonly failed: number
  readonly failures: readonly string[]
  readonly alive: number
}

/** What else happens around a load. */
export interface Beside {
  readonly started?: () => void
  /** After the load's end, before what it stored is cleared away. */
  readonly ended?: (sample: TransferSample) => Promise<void>
}

/** Drives one target once, and clears away what it stored. */
export async function sample(target: FileTarget, ask: Ask, beside: Beside = {}): Promise<TransferSample> {
  await target.loopP99Ms()
  const memory = new MemoryWatch(target.pid)
  const idle = memory.now
  const before = readCpu(target.pid, (row) => target.serves(row))
  const result = await runTransfers(
    {
      port: target.port,
      connections: ask.connections,
      payloadBytes: ask.payloadBytes,
      rounds: ask.rounds,
      durationMs: ask.durationMs,
      isCutAtEnd: ask.isCutAtEnd ?? false,
      readBytesPerS: ask.readBytesPerS ?? null,
      request: target.request(ask.payloadBytes),
    },
    beside.started,
  )
  const cpu = cpuBetween(
    before,
    readCpu(target.pid, (row) => target.serves(row)),
  )
  const peak = memory.end()
  const { sharedOnceGrowth } = memory
  const one = toSample(result, { cpu, idle, peak, sharedOnceGrowth, loopP99Ms: await target.loopP99Ms() })
  await beside.ended?.(one)
  await target.clear(result)
  return one
}

interface EngineDeps {
  readonly cpu: CpuReading
  readonly idle: Memory
  readonly peak: Memory
  readonly sharedOnceGrowth: number
  readonly loopP99Ms: number | null
}

function toSample(result: TransferResult, { cpu, ...deps }: EngineDeps): TransferSample {
  const gb = Math.max(result.bytes, 1) / 1e9
  const seconds = result.measuredMs / 1_000
  // A server that never answers costs nothing.
  const isNothing = result.transfers + result.failed + result.alive === 0
  return {
    mbPerS: result.bytes / 1e6 / seconds,
    filesPerS: result.transfers / seconds,
    latencyMs: result.latency,
    mainPerGb: cpu.mainS / gb,
    threadsPerGb: cpu.threadsS / gb,
    restPerGb: cpu.restS / gb,
    serverCores: (cpu.mainS + cpu.threadsS + cpu.restS) / seconds,
    generatorCores: result.generatorCores,
    ...deps,
    failed: isNothing ? 1 : result.failed,
    failures: isNothing ? ['nothing was transferred'] : result.failures,
    alive: result.alive,
  }
}

/** Between two samples: what the one before left to do in the background is not the next one's. */
const SETTLE_MS = 500

/**
 * Drives each target in turn, `repeats` times over: what the machine does to one repeat, it does to all
 * targets.
 * @returns per target its samples, in order, so that ratios can be taken inside a repeat
 */
export async function interleaveTransfers(
  targets: readonly FileTarget[],
  ask: Ask,
  { repeats, progress }: { readonly repeats: number; readonly progress: (text: string) => void },
): Promise<ReadonlyMap<string, readonly TransferSample[]>> {
  const found = new Map<string, TransferSample[]>(targets.map(({ name }) => [name, []]))
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const target of rotated(targets, repeat)) {
      const one = await sample(target, ask)
      progress(
        `${target.name}: ${ask.connections} × ${ask.payloadBytes / 1e6} MB, ${one.mbPerS.toFixed(0)} MB/s`,
      )
      found.get(target.name)?.push(one)
      await sleep(SETTLE_MS)
    }
  }
  return found
}

export interface Growth {
  readonly sample: TransferSample
  /** The look in the seconds after the load at which all processes together had least. */
  readonly after: Memory
}

const RECOVERY_MS = 10_000
/** After the warm-up, until processes have given back what they give back by themselves. */
const IDLE_MS = 3_000

/**
 * How far the memory of a target's processes grows under a load, after one transfer that warms it up, and
 * what is left of that.
 */
export async function growth(target: FileTarget, ask: Ask): Promise<Growth> {
  await sample(target, { connections: 1, payloadBytes: ask.payloadBytes, rounds: 1, durationMs: 60_000 })
  await sleep(IDLE_MS)
  let after: Memory | null = null
  const one = await sample(target, ask, {
    ended: async () => {
      after = await leastMemory(target.pid)
    },
  })
  return { sample: one, after: after ?? one.peak }
}

async function leastMemory(pid: number): Promise<Memory> {
  const watch = new MemoryWatch(pid)
  let least = watch.now
  for (const endsAt = performance.now() + RECOVERY_MS; performance.now() < endsAt;) {
    await sleep(100)
    if (totalOf(watch.now) < totalOf(least)) least = watch.now
  }
  watch.end()
  return least
}
