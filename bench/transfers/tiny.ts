/** A small request beside large transfers, and beside processes that burn as much CPU and serve nobody. */
import { runLoad } from '../../test/support/load.ts'
import { startBurner } from './burner.ts'
import type { Gateway } from './gateway.ts'
import { sample, type TransferSample } from './measure.ts'
import type { FileTarget } from './target.ts'

export interface TinyRepeat {
  readonly besideTransfers: Latency
  readonly besideBurner: Latency
  readonly transfers: TransferSample
}

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

/** Milliseconds of one load of small requests, and how many a second: at a fixed rate, whoever is late. */
const TINY_MS = 5_000
const TINY_PER_S = 200
/** Until the transfers run at full speed, and beyond the small requests' end. */
const HEAD_MS = 500

/** @param connections transfers at once, each starting its next one at once */
export async function besideTransfers(
  gateway: Gateway,
  target: FileTarget,
  { connections, payloadBytes }: { readonly connections: number; readonly payloadBytes: number },
): Promise<TinyRepeat> {
  let tiny: Promise<Latency> | null = null
  const ask = { connections, payloadBytes, rounds: Infinity, durationMs: TINY_MS + 2 * HEAD_MS }
  const transfers = await sample(target, ask, {
    started: () => {
      tiny = delay(HEAD_MS).then(() => tinyLatency(gateway))
    },
  })
  if (tiny === null) throw new Error('the transfers did not start')
  const besideTransfers = await tiny
  const stops = [
    await startBurner({ cores: transfers.serverCores, isDetached: true }),
    await startBurner({ cores: transfers.generatorCores, isDetached: false }),
  ]
  await delay(HEAD_MS)
  const besideBurner = await tinyLatency(gateway)
  for (const stop of stops) await stop()
  return { besideTransfers, besideBurner, transfers }
}

async function tinyLatency(gateway: Gateway): Promise<Latency> {
  const { method, path, headers } = gateway.tiny()
  const result = await runLoad({
    host: '127.0.0.1',
    port: gateway.stand.port,
    connections: 4,
    durationMs: TINY_MS,
    pace: { kind: 'open', ratePerS: TINY_PER_S },
    requests: [{ method, path, headers, body: '' }],
  })
  return {
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.requests - (result.statuses[200] ?? 0),
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
