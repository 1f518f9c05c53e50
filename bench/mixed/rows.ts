/** Rows of the mix: one for each kind and one for all together. */
import { answeredPerS, latencyFigures } from '../measure.ts'
import { resultRow, type ResultRow, type SampleRecord } from '../record.ts'
import { failedOf, reasonsOf, type MixedResult } from './load.ts'
import { MIXED_KINDS, MIXED_SHARES, type MixedKind } from './mix.ts'

export interface MixedRepeat {
  readonly result: MixedResult
  /** CPU seconds of all processes of the node, from before to after. */
  readonly cpuS: number
  readonly peakBytes: number
}

export const ALL_KINDS = 'the whole mix'

/** The cost of one kind cannot be separated from the cost of all. */
const UNKNOWN = Number.NaN

export function mixedRows(
  scenario: string,
  repeats: readonly MixedRepeat[],
  { ratePerS, connections }: { readonly ratePerS: number; readonly connections: number },
): readonly ResultRow[] {
  const head = { scenario, subject: 'sluice', pace: 'open', connections, payload_bytes: null } as const
  return [
    resultRow({ ...head, case: ALL_KINDS, offered_per_second: ratePerS }, repeats.map(wholeSample)),
    ...MIXED_KINDS.map((kind) =>
      resultRow(
        { ...head, case: kind, offered_per_second: (ratePerS * MIXED_SHARES[kind]) / 100 },
        repeats.map(({ result }) => kindSample(kind, result)),
      ),
    ),
  ]
}

function wholeSample({ result, cpuS, peakBytes }: MixedRepeat): SampleRecord {
  const all = Object.values(result.kinds)
  const sum = (read: (one: (typeof all)[number]) => number): number =>
    all.reduce((total, one) => total + read(one), 0)
  return {
    cpu_us_per_request:
      (cpuS /
        Math.max(
          1,
          sum((one) => one.requestsWithWarmUp),
        )) *
      1e6,
    cpu_s_per_gb: null,
    requests_per_second: sum(answeredPerS),
    mb_per_second: sum((one) => one.sentBytes / one.measuredMs / 1_000),
    latency_us: null,
    rss_mb: peakBytes / 1e6,
    generator_cores: sum((one) => one.generatorCores),
    failed: result.failed,
    failures: result.failures,
  }
}

function kindSample(kind: MixedKind, { kinds }: MixedResult): SampleRecord {
  const one = kinds[kind]
  return {
    cpu_us_per_request: UNKNOWN,
    cpu_s_per_gb: null,
    requests_per_second: answeredPerS(one),
    mb_per_second: kind === 'uploads' ? one.sentBytes / one.measuredMs / 1_000 : null,
    ...latencyFigures(one),
    rss_mb: null,
    generator_cores: one.generatorCores,
    failed: failedOf(kind, one),
    failures: reasonsOf(kind, one),
  }
}
