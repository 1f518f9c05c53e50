/** Records as scenarios leave them, with figures of one's own. */
import {
  bareSample,
  resultRow,
  type ResultRow,
  type ResultsFile,
  type RowHead,
  type SampleRecord,
  type ScenarioRecord,
} from '../../../bench/record.ts'

export function sampleRecord(cpuUs: number, more: Partial<SampleRecord> = {}): SampleRecord {
  return bareSample(cpuUs, { generator_cores: 0.1, ...more })
}

export function rowRecord(
  subject: string,
  cpuUs: readonly number[],
  more: Partial<SampleRecord> & { readonly head?: Partial<RowHead> } = {},
): ResultRow {
  const { head = {}, ...figures } = more
  const whole: RowHead = {
    scenario: 'a',
    case: 'b',
    subject,
    pace: 'closed',
    connections: 1,
    offered_per_second: null,
    payload_bytes: null,
    ...head,
  }
  return resultRow(
    whole,
    cpuUs.map((one) => sampleRecord(one, figures)),
  )
}

export function scenarioRecord(
  rows: readonly ResultRow[],
  more: Partial<ScenarioRecord> = {},
): ScenarioRecord {
  return {
    scenario: rows[0]?.scenario ?? 'a',
    question: 'what it costs',
    settings: {},
    took_seconds: 1,
    subjects: [],
    absent: [],
    rows,
    ratios: [],
    curves: [],
    checks: [],
    notes: [],
    ...more,
  }
}

export function resultsFile(scenarios: readonly ScenarioRecord[]): ResultsFile {
  return {
    form: 1,
    at: '2026-01-01T00:00:00.000Z',
    command: 'npm run bench',
    machine: {
      cpu: 'a',
      cores: 2,
      memoryGb: 1,
      kernel: '1',
      node: 'v20',
      glibc: '2',
      loadBefore: 0,
      stolenPerMille: 0,
    },
    versions: { sluice: '0.1.0' },
    took_seconds: 1,
    scenarios,
  }
}
