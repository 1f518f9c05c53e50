/**
 * Compares the calls that a rate limit admits with its value, and measures the cost of a call, by the size of
 * the limit and the number of fronts.
 */
import { burstOf } from '../../src/schemas/values/rate-burst.ts'
import { runLoad } from '../../test/support/load/load.ts'
import type { LoadResult } from '../../test/support/load/load-plan.ts'
import { treeCpuS } from '../../test/support/load/process-cpu.ts'
import { startStand } from '../../test/support/nodes/stand.ts'
import { answeredPerS } from '../measure.ts'
import type { LimitsOptions } from './options.ts'
import { ratedKey } from './owners.ts'

export interface Accuracy {
  readonly fronts: number
  readonly rpm: number
  readonly admitted: number
  /**
   * Allowed calls in the time between the first and the last admitted one: limit × that time, and the burst.
   */
  readonly allowed: number
  /** The bound of design §6: 100 ms more. */
  readonly bound: number
  readonly offeredPerS: number
  /** True when the offered load exceeds the limit; otherwise the rig was the limit. */
  readonly isReached: boolean
  /** Microseconds of CPU of the node's whole process tree, for admitted and refused calls. */
  readonly cpuUs: number
  readonly generatorCores: number
}

const FRONTS = [1, 2, 4]
const RPMS = [1, 60, 600, 6_000, 60_000, 1_000_000]
const SLACK_MS = 100

export async function accuracy(
  { seconds, connections }: LimitsOptions,
  progress: (text: string) => void,
): Promise<readonly Accuracy[]> {
  const found: Accuracy[] = []
  for (const fronts of FRONTS) {
    const stand = await startStand({ settings: { SLUICE_FRONTS: String(fronts) } })
    try {
      await runLoad({
        host: '127.0.0.1',
        port: stand.port,
        connections,
        durationMs: 3_000,
        pace: { kind: 'closed' },
        requests: [stand.embeddings()],
      })
      for (const rpm of RPMS) {
        const key = await ratedKey(stand, rpm)
        const before = treeCpuS(stand.pid)
        const result = await runLoad({
          host: '127.0.0.1',
          port: stand.port,
          connections,
          durationMs: seconds * 1_000,
          pace: { kind: 'closed' },
          requests: [stand.embeddings(key)],
          keepRows: { except: [429] },
        })
        const one = judged({ fronts, rpm, result, cpuS: treeCpuS(stand.pid) - before })
        progress(
          `${fronts} fronts, ${rpm} a minute: ${one.admitted} of ${one.allowed.toFixed(0)}, ${one.cpuUs.toFixed(0)} µs a call`,
        )
        found.push(one)
      }
    } finally {
      await stand.stop()
    }
  }
  return found
}

interface Taken {
  readonly fronts: number
  readonly rpm: number
  readonly result: LoadResult
  readonly cpuS: number
}

function judged({ fronts, rpm, result, cpuS }: Taken): Accuracy {
  const rows = result.rows.filter(({ status }) => status === 200)
  const firstAt = rows.reduce((least, { startedAt }) => Math.min(least, startedAt), Number.POSITIVE_INFINITY)
  const lastAt = rows.reduce((most, { endedAt }) => Math.max(most, endedAt), firstAt)
  const spanMs = rows.length === 0 ? 0 : lastAt - firstAt
  const allowedIn = (ms: number): number => burstOf(rpm) + (rpm * ms) / 60_000
  const offeredPerS = answeredPerS(result)
  return {
    fronts,
    rpm,
    admitted: rows.length,
    allowed: allowedIn(spanMs),
    bound: allowedIn(spanMs + SLACK_MS),
    offeredPerS,
    isReached: offeredPerS * 60 > rpm * 1.1,
    cpuUs: (cpuS / Math.max(1, result.requests)) * 1e6,
    generatorCores: result.generatorCores,
  }
}
