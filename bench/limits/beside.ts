/**
 * The limits stage beside common limiters of npm: CPU of an admitted call, and the number of admitted calls
 * at a limit.
 */
import { burstOf } from '../../src/schemas/values/rate-burst.ts'
import { runLoad } from '../../test/support/load/load.ts'
import { treeCpuS } from '../../test/support/load/process-cpu.ts'
import { answeredPerS, interleave, rowsOf, type Settings } from '../measure.ts'
import { resultRow, type ResultRow } from '../record.ts'
import type { Absent, Target } from '../target.ts'
import { limiterRequest, startLimiter } from './limiter-targets.ts'
import { LIMITERS } from './limiters.ts'
import type { LimitsOptions } from './options.ts'

/** Requests a minute that no run reaches. */
const AMPLE_RPM = 1_000_000_000
/** Limits under test, in requests a minute. */
const RPMS = [600, 60_000]
/** Milliseconds of load before each measurement. */
const WARM_UP_MS = 2_000

export interface Beside {
  readonly rows: readonly ResultRow[]
  readonly subjects: readonly { readonly name: string; readonly note: string }[]
  readonly absent: readonly Absent[]
  readonly notes: readonly string[]
}

export interface BesideInput extends Pick<LimitsOptions, 'seconds' | 'connections' | 'repeats'> {
  readonly warmUpMs?: number
  /** Requests a minute of the limits under test. */
  readonly limits?: readonly number[]
}

export async function besideOthers(input: BesideInput, progress: (text: string) => void): Promise<Beside> {
  const { seconds, connections, repeats: count, warmUpMs = WARM_UP_MS, limits = RPMS } = input
  const { targets, absent } = await started(AMPLE_RPM)
  try {
    const settings = { connections, durationMs: seconds * 1_000, warmUpMs, repeats: count }
    const repeats = await interleave(targets, settings, progress)
    const cost = rowsOf('limits', repeats, settings).map((row) => ({
      ...row,
      case: `the limiter alone, ${row.case}`,
    }))
    const limited: Limited[] = []
    for (const limitRpm of limits) limited.push(...(await atLimit(limitRpm, settings, progress)))
    return {
      rows: [...cost, ...limited.map(({ row }) => row)],
      subjects: targets.map(({ name, note }) => ({ name: `${name}, the limiter alone`, note })),
      absent,
      notes: limited.map(({ note }) => note),
    }
  } finally {
    for (const target of targets) await target.stop()
  }
}

async function started(
  limitRpm: number,
): Promise<{ readonly targets: readonly Target[]; readonly absent: readonly Absent[] }> {
  const all: (Target | Absent)[] = []
  for (const name of LIMITERS) all.push(await startLimiter(name, { limitRpm }))
  return {
    targets: all.flatMap((one) => ('absent' in one ? [] : [one])),
    absent: all.flatMap((one) => ('absent' in one ? [one] : [])),
  }
}

interface Limited {
  readonly row: ResultRow
  readonly note: string
}

async function atLimit(
  limitRpm: number,
  settings: Settings,
  progress: (text: string) => void,
): Promise<readonly Limited[]> {
  const { targets } = await started(limitRpm)
  const limiters = targets.filter(({ name }) => name !== 'direct')
  try {
    const found: Limited[] = []
    for (const target of limiters) {
      progress(`${target.name}: ${limitRpm} a minute`)
      found.push(await pressed(target, limitRpm, settings))
    }
    return found
  } finally {
    for (const target of targets) await target.stop()
  }
}

async function pressed(
  target: Target,
  limitRpm: number,
  { connections, durationMs, warmUpMs }: Settings,
): Promise<Limited> {
  const load = { host: '127.0.0.1', port: target.port, connections, pace: { kind: 'closed' } } as const
  // The warm-up uses a key of its own: the code is warm, and the other key's limit is unused.
  await runLoad({ ...load, durationMs: warmUpMs, requests: [limiterRequest()] })
  const before = treeCpuS(target.pid)
  const result = await runLoad({ ...load, durationMs, requests: [target.request] })
  const cpuS = treeCpuS(target.pid) - before
  const [admitted = 0, refused = 0] = [result.statuses[200], result.statuses[429]]
  const name = `the limiter alone, ${limitRpm} a minute`
  const share = (limitRpm * result.measuredMs) / 60_000
  return {
    row: resultRow(
      {
        scenario: 'limits',
        case: name,
        subject: target.name,
        pace: 'closed',
        connections,
        offered_per_second: null,
        payload_bytes: null,
      },
      [
        {
          cpu_us_per_request: (cpuS / Math.max(1, result.requestsWithWarmUp)) * 1e6,
          cpu_s_per_gb: null,
          mb_per_second: null,
          latency_us: null,
          requests_per_second: answeredPerS(result),
          rss_mb: null,
          generator_cores: result.generatorCores,
          failed: result.requests - admitted - refused,
          failures: result.failures,
        },
      ],
    ),
    note:
      `${target.name}, ${name}: ${admitted} of ${result.requests} let in within ${(result.measuredMs / 1_000).toFixed(1)} s; ` +
      `the limit is ${share.toFixed(0)} in that time, and our burst ${burstOf(limitRpm).toFixed(0)} more`,
  }
}
