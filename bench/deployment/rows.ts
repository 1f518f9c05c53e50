import {
  resultRow,
  type CurveRecord,
  type LatencyRecord,
  type ResultRow,
  type SampleRecord,
} from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Cell } from './plan.ts'

export const SUBJECT = 'target'

export function rowOf(cell: Cell, samples: readonly SampleRecord[]): ResultRow {
  const { connections, payloadBytes, pace } = cell
  const isOpen = pace.kind === 'open'
  return resultRow(
    {
      scenario: 'deployment',
      case: cell.case,
      subject: SUBJECT,
      pace: isOpen ? 'open' : 'closed',
      connections,
      offered_per_second: isOpen ? cell.ratePerS : null,
      payload_bytes: payloadBytes,
    },
    samples,
  )
}

const PERCENTILES: readonly (readonly [string, (of: LatencyRecord<Spread>) => Spread])[] = [
  ['p50', ({ p50 }) => p50],
  ['p90', ({ p90 }) => p90],
  ['p99', ({ p99 }) => p99],
  ['p99.9', (of) => of.p99_9],
]

/** Curves of latency; empty without an open pace. */
export function latencyCurve(rows: readonly ResultRow[]): readonly CurveRecord[] {
  const points = (read: (of: LatencyRecord<Spread>) => Spread): readonly (readonly [number, number])[] =>
    rows.flatMap(({ offered_per_second: x, latency_us: of }) =>
      x === null || of === null ? [] : [[x, read(of).median / 1_000] as const],
    )
  const lines = PERCENTILES.map(([name, read]) => ({ name, points: points(read) })).filter(
    (line) => line.points.length > 0,
  )
  if (lines.length === 0) return []
  return [
    {
      scenario: 'deployment',
      title: 'Latency against offered load',
      x: 'requests per second',
      y: 'ms',
      lines,
    },
  ]
}
