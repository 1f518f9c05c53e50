/**
 * Compares a run with a saved one. Machines differ from day to day: the comparison uses the ratio to a peer
 * of the same run, now and then. Noise alone is no slowdown: a worse figure must be worse in its whole
 * interval and beyond.
 */
import { isSameRow, rowsOf, type ResultRow, type ResultsFile, type SampleRecord } from '../record.ts'
import { changeOf, type Interval } from '../statistics.ts'

export interface Comparison {
  /** A line for each figure that is worse beyond the bound. */
  readonly worse: readonly string[]
  /** Further remarks for readers. */
  readonly remarks: readonly string[]
  /** Number of compared figures. */
  readonly compared: number
}

/** Peers to divide by; the first one that both runs have in the case counts. */
const PEERS: readonly string[] = [
  'nginx',
  'node',
  'fastify',
  'busboy',
  'tus',
  'bullmq',
  'pg-boss',
  'portkey',
  'rate-limiter-flexible',
  'typebox-0.34',
  'relay',
  'direct',
]
/** Repeats below which there is no interval. */
const REPEATS_MIN = 3

interface Figure {
  readonly name: string
  readonly isMoreWorse: boolean
  read(one: SampleRecord): number | null
  /** True when the figure describes the subject. */
  isMeant(row: ResultRow): boolean
}

const FIGURES: readonly Figure[] = [
  { name: 'CPU per request', isMoreWorse: true, read: (one) => one.cpu_us_per_request, isMeant: () => true },
  {
    name: 'requests per second',
    isMoreWorse: false,
    read: (one) => one.requests_per_second,
    isMeant: (row) => row.pace === 'closed' && !row.is_generator_limit,
  },
  {
    name: 'median latency',
    isMoreWorse: true,
    read: (one) => one.latency_us?.p50 ?? null,
    isMeant: (row) => row.pace === 'open',
  },
]

export function compare(then: ResultsFile, now: ResultsFile, failOn: number): Comparison {
  const rowsThen = rowsOf(then)
  const pairs = rowsOf(now)
    .filter(isOurs)
    .map((row) => ({ row, before: rowsThen.find((one) => isSameRow(one, row)) ?? null }))
  const bound = {
    failOn,
    isSameMachine: then.machine.cpu === now.machine.cpu && then.machine.cores === now.machine.cores,
  }
  const found = pairs.flatMap(({ row, before }) =>
    before === null ? [] : compareRow({ row, before, then: rowsThen, now: rowsOf(now) }, bound),
  )
  const missing = rowsThen.filter((one) => isOurs(one) && !pairs.some(({ row }) => isSameRow(row, one)))
  const fresh = pairs.filter(({ before }) => before === null)
  return {
    worse: found.flatMap((one) => one.worse ?? []),
    remarks: [
      ...new Set(found.flatMap((one) => one.remark ?? [])),
      ...listed(missing, 'in the saved run alone'),
      ...listed(
        fresh.map(({ row }) => row),
        'in this run alone',
      ),
    ],
    compared: found.filter((one) => one.isCompared).length,
  }
}

interface Found {
  readonly isCompared: boolean
  readonly worse?: string
  readonly remark?: string
}

interface Beside {
  readonly row: ResultRow
  readonly before: ResultRow
  readonly then: readonly ResultRow[]
  readonly now: readonly ResultRow[]
}

interface JudgedBy {
  readonly failOn: number
  readonly isSameMachine: boolean
}

function compareRow(
  { row, before, then, now }: Beside,
  { failOn, isSameMachine }: JudgedBy,
): readonly Found[] {
  const title = titleOf(row)
  if (row.failed > 0 && before.failed === 0) {
    return [
      {
        isCompared: true,
        worse: `${title}: ${row.failed} requests failed (${row.failures.join('; ')}), none before`,
      },
    ]
  }
  if (Math.min(row.samples.length, before.samples.length) < REPEATS_MIN) {
    return [{ isCompared: false, remark: `${title}: fewer than ${REPEATS_MIN} repeats, not judged` }]
  }
  return FIGURES.filter((one) => one.isMeant(row) && one.isMeant(before)).flatMap(
    (figure): readonly Found[] => {
      const peer = peerOf(figure, row, { then, now })
      if (peer === null && !isSameMachine)
        return [
          { isCompared: false, remark: `${title}: no peer in both runs, and another machine, not judged` },
        ]
      const beforeValues = relative(figure, before, peer?.then ?? null)
      const values = relative(figure, row, peer?.now ?? null)
      if (Math.min(values.length, beforeValues.length) < REPEATS_MIN) return []
      // The change as a factor of worsening: above one is worse, in either direction of the figure.
      const change = figure.isMoreWorse ? changeOf(values, beforeValues) : changeOf(beforeValues, values)
      const against = peer === null ? 'the figure itself, for want of a peer' : `over ${peer.now.subject}`
      if (!isBeyond(change, failOn)) return [{ isCompared: true }]
      return [
        { isCompared: true, worse: `${title}: ${figure.name}, ${against}: ${worseText(change, figure)}` },
      ]
    },
  )
}

/**
 * True for a change beyond the bound. Percentiles of few repeats are too close to each other: bad luck in all
 * repeats would look certain. The interval is widened by half of its width: a narrow one stays narrow, and a
 * wide one shows its uncertainty.
 */
function isBeyond({ low, high }: Interval, failOn: number): boolean {
  return low / (high / low) ** 0.25 > 1 + failOn
}

function worseText({ median, low, high }: Interval, { isMoreWorse }: Figure): string {
  const percent = (of: number): string =>
    `${Math.abs(Math.round((isMoreWorse ? of - 1 : 1 - 1 / of) * 100))} %`
  return `${percent(median)} ${isMoreWorse ? 'more' : 'less'} than before (95 % ${percent(low)} to ${percent(high)})`
}

/**
 * Values relative to a peer, whose repeats were taken together with those of the row: a slower machine slowed
 * both.
 */
function relative(figure: Figure, row: ResultRow, peer: ResultRow | null): readonly number[] {
  return row.samples.flatMap((one, at) => {
    const value = figure.read(one)
    const other = peer === null ? 1 : peer.samples[at] === undefined ? null : figure.read(peer.samples[at])
    if (typeof value !== 'number' || typeof other !== 'number') return []
    const ratio = value / other
    return Number.isFinite(ratio) && ratio > 0 ? [ratio] : []
  })
}

interface Both<T> {
  readonly then: T
  readonly now: T
}

function peerOf(figure: Figure, row: ResultRow, rows: Both<readonly ResultRow[]>): Both<ResultRow> | null {
  for (const subject of PEERS) {
    const of = (list: readonly ResultRow[]): ResultRow | undefined =>
      list.find((one) => isSameRow(one, { ...row, subject }) && isUsable(figure, one))
    const [before, present] = [of(rows.then), of(rows.now)]
    if (before !== undefined && present !== undefined) return { then: before, now: present }
  }
  return null
}

/** True for a usable figure: CPU time below the resolution of the system's clock cannot be a divisor. */
function isUsable(figure: Figure, row: ResultRow): boolean {
  return (
    figure.isMeant(row) &&
    row.samples.length >= REPEATS_MIN &&
    row.failed === 0 &&
    row.samples.every((one) => (figure.read(one) ?? 0) > 0)
  )
}

/** True for subjects of Sluice: a slower peer is no fault of Sluice. A running deployment is `target`. */
function isOurs({ subject }: ResultRow): boolean {
  return subject === 'sluice' || subject === 'target' || subject.startsWith('sluice-')
}

function titleOf({ scenario, case: name, subject }: ResultRow): string {
  return `${scenario}, ${name}, ${subject}`
}

function listed(rows: readonly ResultRow[], text: string): readonly string[] {
  return rows.length === 0
    ? []
    : [
        `${rows.length} rows are ${text}: ${rows.slice(0, 5).map(titleOf).join('; ')}${rows.length > 5 ? '; …' : ''}`,
      ]
}
