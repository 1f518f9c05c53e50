/** Sends one cell of a load test, once. */
import { startLoad } from '../../test/support/load/load.ts'
import type { LoadResult } from '../../test/support/load/load-plan.ts'
import { treeCpuS } from '../../test/support/load/process-cpu.ts'
import { latencyFigures } from '../measure.ts'
import type { Place } from './ask.ts'
import { statusText, type Driven } from './driven.ts'
import { DEPLOYMENT_RATE_MAX, REACH_MS } from './limits.ts'
import { DRAIN_SECONDS, requestsOfCell, SETTLE_MS, type Cell } from './plan.ts'
import { runUploads } from './uploads.ts'

export interface Driving {
  readonly place: Place
  /**
   * Root of the serving processes, where they run on this machine; null: elsewhere, so that CPU has no
   * figure.
   */
  readonly localPid: number | null
  /** Aborted: no further request begins. */
  readonly signal: AbortSignal
}

export async function drive(cell: Cell, { place, localPid, signal }: Driving): Promise<Driven> {
  const before = localPid === null ? Number.NaN : treeCpuS(localPid)
  const cpuUs = (requests: number): number =>
    localPid === null ? Number.NaN : ((treeCpuS(localPid) - before) / Math.max(1, requests)) * 1e6
  if (cell.load === 'uploads') return runUploads(cell, { place, signal, cpuUs })
  // A closed pace begins to count as soon as it is connected: every answer counts, also the refusals of the
  // first moment.
  const settleMs = cell.pace.kind === 'open' ? SETTLE_MS : 0
  const load = await startLoad({
    host: place.address,
    port: place.origin.port,
    origin: {
      authority: place.origin.authority,
      serverName: place.origin.isTls ? place.origin.hostname : null,
      issuers: place.issuers,
    },
    connections: cell.connections,
    pace: cell.pace,
    // After a standstill of the server the generator catches up with due requests, but not all at once.
    ratePerSMax: cell.pace.kind === 'open' ? DEPLOYMENT_RATE_MAX : cell.ratePerS,
    durationMs: cell.seconds * 1_000 - settleMs,
    warmUpMs: settleMs,
    drainMs: DRAIN_SECONDS * 1_000,
    requestsMax: requestsOfCell(cell),
    answerTimeoutMs: REACH_MS,
    requests: [
      { ...cell.request, headers: { ...cell.request.headers, authorization: `Bearer ${place.key}` } },
    ],
  })
  const stop = (): void => void load.stop()
  signal.addEventListener('abort', stop)
  const result = await load.result.finally(() => signal.removeEventListener('abort', stop))
  return drivenOf(result, cpuUs(result.requestsWithWarmUp))
}

const LIMITED = 429

function drivenOf(result: LoadResult, cpuUs: number): Driven {
  const good = result.statuses[200] ?? 0
  const limited = result.statuses[LIMITED] ?? 0
  const others = Object.entries(result.statuses).filter(
    ([status]) => !['0', '200', String(LIMITED)].includes(status),
  )
  const failures = [
    ...others.map(([status, times]) => `${statusText(Number(status))}, ${times} times`),
    ...new Set(result.failures),
  ]
  const isNothing = result.requests === 0
  return {
    limited,
    requests: result.requests,
    sample: {
      cpu_us_per_request: cpuUs,
      cpu_s_per_gb: null,
      requests_per_second: (good / result.measuredMs) * 1_000,
      mb_per_second: null,
      ...(isNothing ? { latency_us: null } : latencyFigures(result)),
      rss_mb: null,
      generator_cores: result.generatorCores,
      failed: isNothing ? 1 : result.requests - good - limited,
      failures: isNothing ? ['nothing was answered'] : failures,
    },
  }
}
