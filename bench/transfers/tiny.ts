/** A small request beside a load, and beside processes that burn as much CPU and do no work. */
import { runLoad } from '../../test/support/load/load.ts'
import { answeredPerS, latencyUs } from '../measure.ts'
import type { LatencyRecord } from '../record.ts'
import { startBurner } from './burner.ts'
import type { Gateway } from './gateway.ts'
import { sample, type TransferSample } from './measure.ts'
import { HEAD_MS } from './options.ts'
import type { FileTarget } from './target.ts'

export interface TinyRepeat<T> {
  readonly besideLoad: Latency
  readonly besideBurner: Latency
  readonly load: T
}

/** Latencies in milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly latencyUs: LatencyRecord<number>
  readonly ratePerS: number
  readonly generatorCores: number
  readonly failed: number
  readonly failures: readonly string[]
}

/** Milliseconds of one load of small requests beside transfers. */
const TINY_MS = 5_000
/** Small requests per second, at a fixed rate. */
export const TINY_PER_S = 200
/** Connections of the small requests. */
export const TINY_CONNECTIONS = 4

/** @param connections concurrent transfers, each followed by its next one at once */
export function besideTransfers(
  gateway: Gateway,
  target: FileTarget,
  { connections, payloadBytes }: { readonly connections: number; readonly payloadBytes: number },
): Promise<TinyRepeat<TransferSample>> {
  const ask = { connections, payloadBytes, rounds: Infinity, durationMs: TINY_MS + 2 * HEAD_MS }
  return besideLoad(gateway, { tinyMs: TINY_MS, run: (started) => sample(target, ask, { started }) })
}

/** The CPU use of a load, which a burner then repeats. */
export interface Busy {
  readonly serverCores: number
  readonly generatorCores: number
}

export interface LoadBeside<T> {
  /** Milliseconds of small requests. */
  readonly tinyMs: number
  /** A load that lasts `HEAD_MS` longer at both ends, and reports its start. */
  run(started: () => void): Promise<T>
}

export async function besideLoad<T extends Busy>(
  gateway: Gateway,
  { tinyMs, run }: LoadBeside<T>,
): Promise<TinyRepeat<T>> {
  let tiny: Promise<Latency> | null = null
  const load = await run(() => {
    tiny = delay(HEAD_MS).then(() => tinyLatency(gateway, tinyMs))
  })
  if (tiny === null) throw new Error('the load did not start')
  const beside = await tiny
  const stops = [
    await startBurner({ cores: load.serverCores, isDetached: true }),
    await startBurner({ cores: load.generatorCores, isDetached: false }),
  ]
  await delay(HEAD_MS)
  const besideBurner = await tinyLatency(gateway, tinyMs)
  for (const stop of stops) await stop()
  return { besideLoad: beside, besideBurner, load }
}

export async function tinyLatency(gateway: Gateway, durationMs: number): Promise<Latency> {
  const { method, path, headers } = gateway.tiny()
  const result = await runLoad({
    host: '127.0.0.1',
    port: gateway.stand.port,
    connections: TINY_CONNECTIONS,
    durationMs,
    pace: { kind: 'open', ratePerS: TINY_PER_S },
    requests: [{ method, path, headers, body: '' }],
  })
  return {
    p50: result.latency.p50,
    p99: result.latency.p99,
    latencyUs: latencyUs(result),
    ratePerS: answeredPerS(result),
    generatorCores: result.generatorCores,
    failures: result.failures,
    failed: result.requests - (result.statuses[200] ?? 0),
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
