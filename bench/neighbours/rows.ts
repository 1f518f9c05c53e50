/** Rows, checks and lines of the attacks. */
import type { LoadResult } from '../../test/support/load/load-plan.ts'
import { answeredPerS, latencyFigures } from '../measure.ts'
import { checkRecord, resultRow, type CheckRecord, type ResultRow, type SampleRecord } from '../record.ts'
import { spread } from '../statistics.ts'
import { spreadText } from '../text.ts'
import { isFlood, textOf, type AttackName } from './names.ts'
import type { AttackRepeat } from './measure.ts'
import { PACED_NAMES, perS, VICTIM_CONNECTIONS, VICTIM_NAMES, type VictimName } from './victims.ts'

/** Bound for a victim's latency beside an attack, as a multiple of that beside its control. */
export const RATIO_MAX = 3

const SCENARIO = 'neighbours'

export interface AttackFound {
  readonly name: AttackName
  readonly repeats: readonly AttackRepeat[]
}

/** A row for each victim beside the attack and beside its control. */
export function attackRows({ name, repeats }: AttackFound): readonly ResultRow[] {
  return VICTIM_NAMES.flatMap((victim) =>
    (['beside', 'control'] as const).map((where) =>
      resultRow(
        {
          scenario: SCENARIO,
          case: `${victim} ${where === 'beside' ? `beside ${name}` : controlText(name)}`,
          subject: 'sluice',
          pace: 'open',
          connections: VICTIM_CONNECTIONS,
          offered_per_second: perS(victim),
          payload_bytes: null,
        },
        repeats.map((one) => sampleOf(one[where][victim])),
      ),
    ),
  )
}

/** The CPU of a call beside an attack cannot be separated from that of the attack. */
function sampleOf(result: LoadResult): SampleRecord {
  const good = result.statuses[200] ?? 0
  return {
    cpu_us_per_request: Number.NaN,
    cpu_s_per_gb: null,
    requests_per_second: answeredPerS(result),
    mb_per_second: null,
    ...latencyFigures(result),
    rss_mb: null,
    generator_cores: result.generatorCores,
    failed: result.requests - good,
    failures: [
      ...Object.keys(result.statuses)
        .filter((status) => !['0', '200'].includes(status))
        .map((status) => `status ${status}`),
      ...result.failures,
    ],
  }
}

function controlText(name: AttackName): string {
  return isFlood(name) ? `beside ${name} past Sluice` : `beside a burner as busy as ${name}`
}

type Percentile = 'p50' | 'p99'

export function latencyRatio(
  { beside, control }: Pick<AttackRepeat, 'beside' | 'control'>,
  victim: VictimName,
  percentile: Percentile,
): number {
  return beside[victim].latency[percentile] / control[victim].latency[percentile]
}

/**
 * Checks the victim whose latency rose most, at the median of the repeats; no call of any victim may fail. The
 * median latency is checked beside streams and calls to the attacker's own endpoint.
 */
export function attackChecks(found: AttackFound, frontBytesMax: number): readonly CheckRecord[] {
  const { name, repeats } = found
  const rows = attackRows(found).filter((row) => row.case.endsWith(`beside ${name}`))
  const over = isFlood(name) ? 'beside the same past Sluice' : 'beside a burner'
  const percentiles: readonly Percentile[] = isFlood(name) ? ['p50', 'p99'] : ['p99']
  const latencies = percentiles.map((percentile) => {
    const ratios = PACED_NAMES.map((victim) => ({
      victim,
      ratio: spread(repeats.map((one) => latencyRatio(one, victim, percentile))),
    }))
    const worst = ratios.reduce((most, one) => (one.ratio.median > most.ratio.median ? one : most))
    return checkRecord(`${name}: ${percentile} of ${worst.victim}, over ${over}`, worst.ratio, {
      bound: { atMost: RATIO_MAX },
      rows,
    })
  })
  return [
    ...latencies,
    checkRecord(
      `${name}: MB resident of the largest front`,
      spread(repeats.map((one) => one.frontBytes / 1e6)),
      {
        bound: { atMost: frontBytesMax / 1e6 },
        rows: rows.map((row) => ({ ...row, failed: 0 })),
        repeats: null,
      },
    ),
  ]
}

export function attackNote({ name, repeats }: AttackFound): string {
  const statuses = [...new Set(repeats.flatMap((one) => Object.keys(one.attackStatuses)))].filter(
    (status) => status !== '0',
  )
  const [perS, cores] = [
    spread(repeats.map((one) => one.attackPerS)),
    spread(repeats.map((one) => one.attackCores)),
  ]
  const answered =
    statuses.length === 0
      ? 'nothing is read'
      : `${spreadText(perS, 0)} a second, answered ${statuses.join(', ')}`
  return `${name}: ${textOf(name)}; ${answered}; the node spends ${spreadText(cores, 2)} cores on it`
}
