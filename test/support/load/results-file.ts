/** Results as a run leaves them, made up: what is done with them does not need an hour of measuring. */
import type {
  CheckRecord,
  CurveRecord,
  RatioRecord,
  ResultRow,
  ResultsFile,
  RowHead,
  SampleRecord,
  ScenarioRecord,
} from '../../../bench/record.ts'
import { RESULTS_FORM, resultRow } from '../../../bench/record.ts'

export function resultsFile(scenarios: readonly ScenarioRecord[]): ResultsFile {
  return {
    form: RESULTS_FORM,
    at: '2026-11-21T06:53:24.123Z',
    command: 'npm run bench -- --repeats 5',
    machine: {
      cpu: 'Planted CPU @ 2.50GHz',
      cores: 2,
      memoryGb: 8.2,
      kernel: '6.1.0',
      node: 'v20.20.2',
      glibc: '2.36',
      loadBefore: 0.12,
      stolenPerMille: 3,
    },
    versions: { sluice: '0.1.0', node: 'v20.20.2', nginx: '1.22.1' },
    took_seconds: 612,
    scenarios,
  }
}

/** What is not given does not apply. */
export function scenarioRecord(
  given: Partial<ScenarioRecord> & Pick<ScenarioRecord, 'scenario'>,
): ScenarioRecord {
  return {
    question: `What does ${given.scenario} cost?`,
    settings: { duration: 4, repeats: 5 },
    took_seconds: 40,
    subjects: [],
    absent: [],
    rows: [],
    ratios: [],
    curves: [],
    checks: [],
    notes: [],
    ...given,
  }
}

/** Repeats that differ by some percent, the same each time. */
export function sampleRecords(of: Partial<SampleRecord>, repeats = 5): readonly SampleRecord[] {
  return Array.from({ length: repeats }, (_, at) => {
    const by = 1 + (((at * 7) % 5) - 2) / 100
    const own = 1 + (((at + Math.round(of.requests_per_second ?? 0)) % 3) - 1) / 100
    return {
      cpu_us_per_request: (of.cpu_us_per_request ?? 50) * by * own,
      cpu_s_per_gb: of.cpu_s_per_gb ?? null,
      requests_per_second: (of.requests_per_second ?? 10_000) * own,
      mb_per_second: of.mb_per_second ?? null,
      latency_us: of.latency_us ?? null,
      ...(of.latency_by_percent_us === undefined ? {} : { latency_by_percent_us: of.latency_by_percent_us }),
      rss_mb: of.rss_mb ?? null,
      generator_cores: of.generator_cores ?? 0.5,
      failed: of.failed ?? 0,
      failures: of.failures ?? [],
    }
  })
}

export function rowRecord(
  head: Partial<RowHead> & Pick<RowHead, 'subject'>,
  of: Partial<SampleRecord> = {},
  repeats = 5,
): ResultRow {
  const defaults = {
    scenario: 'embeddings',
    case: '48 connections',
    pace: 'closed',
    connections: 48,
    offered_per_second: null,
    payload_bytes: null,
  } as const
  return resultRow({ ...defaults, ...head }, sampleRecords(of, repeats))
}

export function ratioOf(given: Partial<RatioRecord>): RatioRecord {
  return {
    scenario: 'embeddings',
    case: '48 connections',
    metric: 'cpu_us_per_request',
    over: 'sluice',
    under: 'nginx',
    ratio: { median: 1.6, low: 1.5, high: 1.7 },
    ...given,
  }
}

export function checkOf(given: Partial<CheckRecord>): CheckRecord {
  return {
    scenario: 'embeddings',
    text: 'CPU of a request over that of nginx',
    found: { median: 1.6, min: 1.5, max: 1.7 },
    at_least: null,
    at_most: 2.2,
    failed: 0,
    is_met: true,
    ...given,
  }
}

export function curveOf(given: Partial<CurveRecord>): CurveRecord {
  return {
    scenario: 'latency',
    title: 'p99 latency against offered load',
    x: 'requests offered per second',
    y: 'milliseconds',
    lines: [
      {
        name: 'sluice',
        points: [
          [1_000, 0.4],
          [2_500, 0.5],
          [5_000, 0.9],
          [7_500, 2.5],
          [9_000, 44],
        ],
      },
      {
        name: 'nginx',
        points: [
          [1_000, 0.3],
          [2_500, 0.35],
          [5_000, 0.5],
          [9_000, 0.8],
          [18_000, 6],
        ],
      },
    ],
    ...given,
  }
}
