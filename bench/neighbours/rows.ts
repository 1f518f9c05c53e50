/** Rows, checks and lines of the attacks. */
import type { LoadResult } from '../../test/support/load/load-plan.ts'
import { answeredPerS, latencyFigures } from '../measure.ts'
import { checkRecord, resultRow, type CheckRecord, type ResultRow, type SampleRecord } from '../record.ts'
import { spread } from '../statistics.ts'
import { spreadText } from '../text.ts'
import { ATTACKS, type AttackName } from './attacks.ts'
import type { AttackRepeat } from './measure.ts'
import { PACED_NAMES, perS, VICTIM_CONNECTIONS, VICTIM_NAMES, type VictimName } from './victims.ts'

/** Bound for a victim's p99 beside an attack, as a multiple of that beside a burner of as much CPU. */
export const P99_RATIO_MAX = 3

const SCENARIO = 'neighbours'

export interface AttackFound {
  readonly name: AttackName
  readonly repeats: readonly AttackRepeat[]
}

/** A row for each victim beside the attack and beside the burner. */
export function attackRows({ name, repeats }: AttackFound): readonly ResultRow[] {
  return VICTIM_NAMES.flatMap((victim) =>
    (['beside', 'burner'] as const).map((where) =>
      resultRow(
        {
          scenario: SCENARIO,
          case: `${victim} ${where === 'beside' ? `beside ${name}` : `beside a burner as busy as ${name}`}`,
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

export function p99Ratio(
  { beside, burner }: Pick<AttackRepeat, 'beside' | 'burner'>,
  victim: VictimName,
): number {
  return beside[victim].latency.p99 / burner[victim].latency.p99
}

/** Checks the victim whose p99 rose most, at the median of the repeats; no call of any victim may fail. */
export function attackChecks(found: AttackFound, frontBytesMax: number): readonly CheckRecord[] {
  const { name, repeats } = found
  const rows = attackRows(found).filter((row) => row.case.endsWith(`beside ${name}`))
  const ratios = PACED_NAMES.map((victim) => ({
    victim,
    ratio: spread(repeats.map((one) => p99Ratio(one, victim))),
  }))
  const worst = ratios.reduce((most, one) => (one.ratio.median > most.ratio.median ? one : most))
  return [
    checkRecord(`${name}: p99 of ${worst.victim}, over beside a burner`, worst.ratio, {
      bound: { atMost: P99_RATIO_MAX },
      rows,
    }),
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
  const { text } = ATTACKS[name]
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
  return `${name}: ${text}; ${answered}; the node spends ${spreadText(cores, 2)} cores on it`
}
