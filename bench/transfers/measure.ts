import { setTimeout as sleep } from 'node:timers/promises'
import { rotated } from '../measure.ts'
import type { LatencyRecord } from '../record.ts'
import { runTransfers } from './load.ts'
import type { TransferResult } from './plan.ts'
import { cpuBetween, MemoryWatch, readCpu, totalOf, type CpuReading, type Memory } from './resources.ts'
import type { FileTarget } from './target.ts'

/** The load for a target. */
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
  /** CPU seconds for 1e9 bytes of files. */
  readonly mainPerGb: number
  readonly threadsPerGb: number
  readonly restPerGb: number
  /** Cores that the server's processes used on average. */
  readonly serverCores: number
  readonly generatorCores: number
  /** Bytes of all processes together before the load. */
  readonly idle: Memory
  /** Most bytes of all processes together. */
  readonly peak: Memory
  /** Growth in bytes, with shared memory counted once. */
  readonly sharedOnceGrowth: number
  readonly loopP99Ms: number | null
  readonly failed: number
  readonly failures: readonly string[]
  readonly alive: number
}

/** Further steps around a load. */
export interface Beside {
  readonly started?: () => void
  /** Runs after the load's end, before its stored files are removed. */
  readonly ended?: (sample: TransferSample) => Promise<void>
}

/** Drives one target once, and removes the files that it stored. */
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

/** Milliseconds between two samples: background work of one must not count for the next. */
const SETTLE_MS = 500

/**
 * Drives each target in turn, `repeats` times: a disturbance of the machine in one repeat affects all
 * targets.
 * @returns the samples of each target, in order, so that ratios can be computed inside a repeat
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
  /** The look with the least memory of all processes in the seconds after the load. */
  readonly after: Memory
}

const RECOVERY_MS = 10_000
/** Milliseconds after the warm-up in which processes return memory by themselves. */
const IDLE_MS = 3_000

/** The growth of a target's memory under a load after one warm-up transfer, and the memory that stays. */
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
