/** Rows and further figures of the writes of secrets and of the small reads beside them. */
import { resultRow, type LatencyRecord, type ResultRow, type SampleRecord } from '../record.ts'
import { spread } from '../statistics.ts'
import { spreadText } from '../text.ts'
import { TINY_CONNECTIONS, TINY_PER_S, type Latency } from '../transfers/tiny.ts'

/** The result of a load of writes. */
export interface Writes {
  readonly ratePerS: number
  readonly failed: number
  readonly failures: readonly string[]
  readonly latencyUs: LatencyRecord<number>
  readonly rssMb: number
  readonly generatorCores: number
  /** Microseconds of CPU a write in the first thread of the front. */
  readonly mainUs: number
  /** Microseconds of CPU a write in the front's other threads. */
  readonly threadsUs: number
  /** Microseconds of CPU a write in all other processes. */
  readonly restUs: number
}

export interface VaultRepeat {
  /** Latency of the small reads alone. */
  readonly alone: Latency
  /** Latency of the small reads beside the writes. */
  readonly beside: Latency
  /** Latency of the small reads beside the burner. */
  readonly burner: Latency
  readonly writes: Writes
  readonly loopP99Ms: number | null
  readonly burnerLoopP99Ms: number | null
}

type Figure = readonly [name: string, digits: number, read: (one: VaultRepeat) => number | null]

/** Figures without a column in the rows. */
const FIGURES: readonly Figure[] = [
  ['CPU µs a write, main thread', 0, (one) => one.writes.mainUs],
  ['CPU µs a write, other threads', 0, (one) => one.writes.threadsUs],
  ['CPU µs a write, other processes', 0, (one) => one.writes.restUs],
  ['p99 of a model read, beside writes over beside a burner', 2, (one) => one.beside.p99 / one.burner.p99],
  ['event-loop delay p99 ms, beside writes', 1, (one) => one.loopP99Ms],
  ['event-loop delay p99 ms, beside a burner', 1, (one) => one.burnerLoopP99Ms],
]

export function figureLines(repeats: readonly VaultRepeat[]): readonly string[] {
  return FIGURES.map(
    ([name, digits, read]) =>
      `${name}: ${spreadText(spread(repeats.map((one) => read(one) ?? Number.NaN)), digits)}`,
  )
}

export function vaultRows(
  repeats: readonly VaultRepeat[],
  { ratePerS }: { readonly ratePerS: number },
): readonly ResultRow[] {
  const head = { scenario: 'vault', subject: 'sluice', pace: 'open', payload_bytes: null } as const
  const reads = (name: string, read: (one: VaultRepeat) => Latency): ResultRow =>
    resultRow(
      { ...head, case: name, connections: TINY_CONNECTIONS, offered_per_second: TINY_PER_S },
      repeats.map((one) => readSample(read(one))),
    )
  return [
    resultRow(
      { ...head, case: 'writes of secrets', connections: WRITE_CONNECTIONS, offered_per_second: ratePerS },
      repeats.map(writeSample),
    ),
    reads('model read alone', (one) => one.alone),
    reads('model read beside writes', (one) => one.beside),
    reads('model read beside a burner', (one) => one.burner),
  ]
}

/** Connections that reach the rate while an answer takes a fifth of a second. */
export const WRITE_CONNECTIONS = 64

function writeSample({ writes }: VaultRepeat): SampleRecord {
  return {
    cpu_us_per_request: writes.mainUs + writes.threadsUs + writes.restUs,
    cpu_s_per_gb: null,
    requests_per_second: writes.ratePerS,
    mb_per_second: null,
    latency_us: writes.latencyUs,
    rss_mb: writes.rssMb,
    generator_cores: writes.generatorCores,
    failed: writes.failed,
    failures: writes.failures,
  }
}

/** The sample of reads beside another load, whose CPU cannot be separated. */
function readSample(one: Latency): SampleRecord {
  return {
    cpu_us_per_request: Number.NaN,
    cpu_s_per_gb: null,
    requests_per_second: one.ratePerS,
    mb_per_second: null,
    latency_us: one.latencyUs,
    rss_mb: null,
    generator_cores: one.generatorCores,
    failed: one.failed,
    failures: one.failures,
  }
}
