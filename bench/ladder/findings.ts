/** What the samples of the ladder say: a row for each subject, the price of each part, and their sum. */
import { checkRecord, resultRow, type CheckRecord, type ResultRow, type SampleRecord } from '../record.ts'
import { pairedDifference, spread, type Interval, type Spread } from '../statistics.ts'
import { RUNG_PREFIX, TRACING, UNLOGGED } from './rungs.ts'
import type { LadderSubject } from './subjects.ts'

const SCENARIO = 'ladder'
/** Share of the whole difference that the rungs may leave unexplained, or explain too much. */
const UNEXPLAINED_MAX = 0.1
/** Floats up to which an answer is small: what its call costs does not grow with its bytes. */
const SMALL_DIMENSIONS = 8
/** Microseconds of CPU that a part of a small call may cost. */
const RUNG_US_MAX = 6
/** Microseconds of CPU that the request log of a node may cost a call, from the front to Postgres. */
const LOG_US_MAX = 2
/** Parts that may cost more, each with the reason. */
export const DEARER: Readonly<Record<string, string>> = {
  [RUNG_PREFIX + TRACING.name]: 'a node without a receiver of spans makes none',
}

/** The price of one part: a subject over the one below. */
export interface Step {
  readonly case: string
  readonly subject: string
  readonly below: string
  /** Microseconds of CPU per request. */
  readonly cpuUs: Interval
}

/** @param name of the case */
export function ladderRows(
  samples: ReadonlyMap<string, readonly SampleRecord[]>,
  connections: number,
  name = `${connections} connections`,
): readonly ResultRow[] {
  return [...samples].map(([subject, ofSubject]) =>
    resultRow(
      {
        scenario: SCENARIO,
        case: name,
        subject,
        pace: 'closed',
        connections,
        offered_per_second: null,
        payload_bytes: null,
      },
      ofSubject,
    ),
  )
}

const cpuOf = (row: ResultRow): readonly number[] =>
  row.samples.map(({ cpu_us_per_request }) => cpu_us_per_request)

/** The steps between rows whose subjects stand on each other in one case. */
export function stepsOf(
  rows: readonly ResultRow[],
  subjects: readonly { readonly name: string; readonly below?: string | null }[],
): readonly Step[] {
  return [...new Set(rows.map((row) => row.case))].flatMap((name) => {
    const ofCase = rows.filter((row) => row.case === name)
    return subjects.flatMap((one) => stepOf(ofCase, one) ?? [])
  })
}

function stepOf(
  rows: readonly ResultRow[],
  { name, below = null }: { readonly name: string; readonly below?: string | null },
): Step | null {
  const rowOf = (wanted: string | null): ResultRow | undefined =>
    rows.find(({ subject }) => subject === wanted)
  const [row, under] = [rowOf(name), rowOf(below)]
  if (row === undefined || under === undefined) return null
  const cpuUs = pairedDifference(cpuOf(row), cpuOf(under))
  return { case: row.case, subject: name, below: under.subject, cpuUs }
}

/**
 * The parts of the assembled fronts and the processes beside a front, over the difference between the whole
 * node and the relay. Each side is a median: their ratio is one figure.
 * @returns null without the subjects of both sides
 */
export function explainedShare(rows: readonly ResultRow[], top: string | null): number | null {
  const [relay, last, node] = ['relay', top, 'sluice'].map((name) =>
    rows.find(({ subject }) => subject === name),
  )
  if (relay === undefined || last === undefined || node === undefined) return null
  const others = spread(node.samples.map(({ figures }) => figures?.['others_us'] ?? Number.NaN)).median
  const parts = pairedDifference(cpuOf(last), cpuOf(relay)).median + others
  return parts / pairedDifference(cpuOf(node), cpuOf(relay)).median
}

export interface Judged {
  readonly rows: readonly ResultRow[]
  readonly steps: readonly Step[]
  /** The highest assembled front. */
  readonly top: string | null
  /** Floats of an answer of embeddings; null: another call, whose parts have no bounds of their own. */
  readonly dimensions: number | null
  /** Begins the texts where a record has several ladders. */
  readonly prefix?: string
}

export function ladderChecks({ rows, steps, top, dimensions, prefix = '' }: Judged): readonly CheckRecord[] {
  const share = explainedShare(rows, top)
  const sum =
    share === null
      ? []
      : [
          checkRecord(
            `${prefix}share of the difference between node and relay by which the sum of the parts is off`,
            spread([Math.abs(share - 1)]),
            { bound: { atMost: UNEXPLAINED_MAX }, rows },
          ),
        ]
  const judged = steps.filter(({ subject }) => !(subject in DEARER))
  const [dearest] = judged.toSorted((a, b) => b.cpuUs.median - a.cpuUs.median)
  if (dimensions === null || dimensions > SMALL_DIMENSIONS || dearest === undefined) return sum
  const log = steps.find(({ below }) => below === UNLOGGED)
  return [
    ...sum,
    ...(log === undefined
      ? []
      : [
          checkRecord('CPU µs of the request log, in all processes of a node', spreadOf(log.cpuUs), {
            bound: { atMost: LOG_US_MAX },
            rows,
          }),
        ]),
    checkRecord(`CPU µs of the dearest part without a reason, ${dearest.subject}`, spreadOf(dearest.cpuUs), {
      bound: { atMost: RUNG_US_MAX },
      rows,
    }),
  ]
}

function spreadOf({ median, low, high }: Interval): Spread {
  return { median, min: low, max: high }
}

/** A sentence for each step, and the sum. */
export function ladderNotes({
  rows,
  steps,
  top,
  prefix = '',
}: Omit<Judged, 'dimensions'>): readonly string[] {
  const share = explainedShare(rows, top)
  const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`
  return [
    ...steps.map(
      ({ subject, below, cpuUs: { median, low, high } }) =>
        `${prefix}${subject}: ${signed(median)} µs of CPU over ${below} (95 % ${signed(low)} to ${signed(high)})`,
    ),
    ...(share === null
      ? []
      : [
          `${prefix}the parts and the processes beside the front come to ${(share * 100).toFixed(0)} % of the difference between the node and the relay`,
        ]),
    ...steps.flatMap(({ subject }) =>
      DEARER[subject] === undefined ? [] : [`${prefix}${subject} may cost more: ${DEARER[subject]}`],
    ),
  ]
}

/** The highest rung of the assembled fronts that a node has by itself. */
export function topOf(subjects: readonly LadderSubject[], besides: string): string | null {
  const rungs = subjects.filter(({ name }) => name.startsWith(RUNG_PREFIX) && name !== besides)
  return rungs.at(-1)?.name ?? null
}
