/**
 * A run with all that can stand in one: every kind of row, of ratio, of curve; and names that would be
 * markup.
 */
import type { ResultsFile, ScenarioRecord } from '../../../bench/record.ts'
import { ratioRecord } from '../../../bench/record.ts'
import {
  checkOf,
  curveOf,
  ratioOf,
  resultsFile,
  rowRecord,
  scenarioRecord,
} from '../../support/load/results-file.ts'

export const HOSTILE = '</script><img src=x onerror="alert(1)"><!--\u2028& \'quoted\''

export function fullResults(): ResultsFile {
  return resultsFile([embeddings(), uploads(), latency(), soak(), sweep(), hostile()])
}

function embeddings(): ScenarioRecord {
  const subjects = [
    ['sluice', 84.4, 9_100, 420],
    ['sluice-ungoverned', 56, 12_900, 380],
    ['nginx', 38, 17_200, 18],
    ['portkey', 2_390, 390, 190],
    ['fastify', 121, 7_200, 96],
    ['direct', 14, 41_000, null],
  ] as const
  const rows = ['1 connection', '48 connections'].flatMap((name) =>
    subjects.map(([subject, cpu, rate, rss], at) =>
      rowRecord(
        { subject, case: name, connections: Number.parseInt(name, 10), payload_bytes: 8_400 },
        {
          cpu_us_per_request: cpu * (name === '1 connection' ? 1.3 : 1),
          requests_per_second: rate / (name === '1 connection' ? 4 : 1),
          rss_mb: rss,
          generator_cores: subject === 'direct' ? 0.97 : 0.4,
          latency_us: {
            p50: 4_000 + at * 400,
            p90: 6_000 + at * 400,
            p99: 9_000 + at * 900,
            p99_9: 14_000 + at * 900,
            max: 31_000 + at * 900,
          },
        },
      ),
    ),
  )
  const [ours, ...others] = rows.filter((row) => row.case === '48 connections')
  return scenarioRecord({
    scenario: 'embeddings',
    question:
      'What does a governed call of 1,536 floats cost beside plain proxies, by 1 and 48 connections that ask again as soon as they have an answer?',
    subjects: [
      { name: 'sluice', note: 'one front; key, scope, limits, money, metering, log.' },
      { name: 'sluice-ungoverned', note: 'the same pipeline without keys, limits and money.' },
      { name: 'nginx', note: 'plain reverse proxy with keep-alive; checks nothing.' },
      { name: 'portkey', note: 'does more with a request, and keeps no accounts.' },
      { name: 'fastify', note: 'the same checks with the same validators, in memory alone.' },
    ],
    absent: [{ name: 'node', reason: 'not installed: npm ci --ignore-scripts --prefix tools/peers' }],
    rows,
    ratios:
      ours === undefined
        ? []
        : others.flatMap((other) => ratioRecord('cpu_us_per_request', ours, other) ?? []),
    checks: [
      checkOf({}),
      checkOf({
        text: 'CPU of a request over our ungoverned pipeline',
        found: { median: 1.507, min: 1.49, max: 1.53 },
        at_most: 1.2,
        is_met: false,
      }),
    ],
    notes: ['The upstream is a server of our own on the same machine; its CPU is not counted.'],
  })
}

function uploads(): ScenarioRecord {
  const broken = { failed: 2, failures: ['connection reset'] }
  const rows = ['files of 1 MB', 'files of 100 MB'].flatMap((name) =>
    (['sluice', 'nginx', 'tus'] as const).map((subject, at) =>
      rowRecord(
        {
          scenario: 'uploads',
          subject,
          case: name,
          connections: 4,
          payload_bytes: name === 'files of 1 MB' ? 1e6 : 1e8,
        },
        {
          cpu_us_per_request: 2_400 + at * 100,
          cpu_s_per_gb: [1.4, 0.6, 1.38][at] ?? null,
          requests_per_second: 410,
          mb_per_second: [410, 890, 420][at] ?? null,
          rss_mb: 300,
          ...(subject === 'tus' && name === 'files of 100 MB' ? broken : {}),
        },
      ),
    ),
  )
  return scenarioRecord({ scenario: 'uploads', rows, notes: ['Sealed on disk.'] })
}

function latency(): ScenarioRecord {
  const loads = [
    ['10 % of the ceiling', 1_000],
    ['90 % of the ceiling', 9_000],
  ] as const
  const rows = loads.flatMap(([name, rate]) =>
    (['sluice', 'nginx'] as const).map((subject, at) =>
      rowRecord(
        { scenario: 'latency', subject, case: name, pace: 'open', offered_per_second: rate },
        {
          requests_per_second: rate,
          latency_us: { p50: 380 + at * 90, p90: 700, p99: 1_900 - at * 800, p99_9: 4_100, max: 9_800 },
        },
      ),
    ),
  )
  return scenarioRecord({
    scenario: 'latency',
    rows,
    curves: [curveOf({ title: 'p50 latency against offered load' }), curveOf({})],
  })
}

function soak(): ScenarioRecord {
  const points = (from: number, by: number) =>
    Array.from({ length: 120 }, (_, at) => [at * 5, from + by * Math.sqrt(at) + (at % 7)] as const)
  const [supervisor, holed] = [
    { name: 'supervisor', points: points(60, 0.5) },
    { name: 'runner', points: points(88, 0.7) },
  ]
  const front = {
    name: 'front 1',
    points: points(120, 3).map(([x, y], at) => [x, at === 3 ? Number.NaN : y] as const),
  }
  return scenarioRecord({
    scenario: 'soak',
    rows: [
      rowRecord(
        { scenario: 'soak', subject: 'sluice', case: 'ten minutes', pace: 'open', offered_per_second: 1_000 },
        { cpu_us_per_request: Number.NaN },
      ),
    ],
    curves: [
      curveOf({
        scenario: 'soak',
        title: 'Memory over time',
        x: 'seconds',
        y: 'resident MB',
        lines: [front, supervisor, holed],
      }),
    ],
  })
}

function sweep(): ScenarioRecord {
  return scenarioRecord({
    scenario: 'sweep',
    curves: [
      curveOf({
        scenario: 'sweep',
        title: 'Highest rate with p99 within 50 ms',
        x: 'SLUICE_WORKERS',
        y: 'requests per second',
        lines: [
          {
            name: '1 front',
            points: [
              [1, 900],
              [2, 1_450],
              [4, 1_480],
            ],
          },
          {
            name: '2 fronts',
            points: [
              [1, 880],
              [2, 1_500],
              [4, 1_490],
            ],
          },
        ],
      }),
      curveOf({ scenario: 'sweep', title: 'Nothing was measured', lines: [] }),
    ],
    notes: ['On this machine of 2 cores this mix wants SLUICE_FRONTS=1 SLUICE_WORKERS=2.'],
  })
}

function hostile(): ScenarioRecord {
  return scenarioRecord({
    scenario: HOSTILE,
    question: HOSTILE,
    settings: { [HOSTILE]: HOSTILE },
    subjects: [{ name: HOSTILE, note: HOSTILE }],
    absent: [{ name: HOSTILE, reason: HOSTILE }],
    rows: [
      rowRecord({ scenario: HOSTILE, subject: HOSTILE, case: HOSTILE }, { failed: 3, failures: [HOSTILE] }),
      rowRecord({ scenario: HOSTILE, subject: 'sluice', case: HOSTILE }),
    ],
    ratios: [ratioOf({ scenario: HOSTILE, case: HOSTILE, under: HOSTILE })],
    curves: [
      curveOf({
        scenario: HOSTILE,
        title: HOSTILE,
        x: HOSTILE,
        y: HOSTILE,
        lines: [
          {
            name: HOSTILE,
            points: [
              [1, 1],
              [2, 2],
            ],
          },
        ],
      }),
    ],
    checks: [checkOf({ scenario: HOSTILE, text: HOSTILE, is_met: false, failed: 3 })],
    notes: [HOSTILE],
  })
}
