import type {
  FindingView,
  FrontView,
  LiveView,
  OperationView,
  PoolView,
  ProviderView,
} from '../../../../schemas/operator/live-view.ts'
import { percentText } from '../../../observe/load-advice.ts'
import { fitted, type Line, piece, type Piece, widthOf } from './text.ts'
import type { Tone } from '../../parts/terminal-text.ts'

/** Lines that belong together. On a small screen a section shows its first lines and the number of its other items. */
export interface Section {
  readonly lines: readonly Line[]
  /** Lines before the first item. */
  readonly heads: number
  readonly each: number
  /** The section with the lowest rank gets its lines first. */
  readonly rank: number
  /** True for a long list, whose end may be cut off. */
  readonly isLong?: boolean
}

/** The sections of a node's view, in the order of the screen. */
export function sectionsOf(view: LiveView, columns: number): readonly Section[] {
  return [
    { lines: figureLines(view), heads: 2, each: 1, rank: 0 },
    { lines: view.findings.flatMap(findingLines), heads: 0, each: 2, rank: 1 },
    { lines: storeLines(view), heads: 0, each: 1, rank: 2 },
    { lines: tableOf(OPERATIONS, view.operations, columns), heads: 1, each: 1, rank: 4, isLong: true },
    { lines: tableOf(FRONTS, view.fronts, columns), heads: 1, each: 1, rank: 3 },
    { lines: tableOf(PROVIDERS, view.providers, columns), heads: 1, each: 1, rank: 5, isLong: true },
  ].filter(({ lines }) => lines.length > 0)
}

/** The first line; it also shows when figures are old. */
export function titleLine(
  view: LiveView | null,
  trouble: { readonly reason: string; readonly seconds: number } | null,
): Line {
  const name = piece(view === null ? 'Sluice' : `Sluice ${view.version}`, 'strong')
  if (trouble === null && view !== null) {
    const { status, reasons } = view.readiness
    const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`
    return [
      name,
      piece('  '),
      piece(status + why, STATUS_TONES[status]),
      piece(`  ${clockText(view.at)} UTC`, 'faint'),
    ]
  }
  const what =
    trouble === null
      ? 'waiting for the node'
      : `${trouble.reason}; down for ${durationText(trouble.seconds)}, retrying`
  return [name, piece('  '), piece(what, trouble === null ? 'faint' : 'bad')]
}

const STATUS_TONES: Readonly<Record<LiveView['readiness']['status'], Tone>> = {
  ready: 'good',
  degraded: 'warn',
  unavailable: 'bad',
}

function figureLines({ readiness, ...view }: LiveView): readonly Line[] {
  const { fronts, workers, runners } = readiness
  const { streams, money } = view
  const share = ({ ready, wanted }: { ready: number; wanted: number }): Piece =>
    piece(`${ready}/${wanted}`, ready < wanted ? 'bad' : 'strong')
  return [
    [
      ...figure('requests', `${rateText(view.requests_per_second)}/s`),
      ...figure('refused', `${rateText(view.refused_per_second)}/s`),
      ...figure('failed', `${rateText(view.failed_per_second)}/s`, view.failed_per_second > 0),
      ...figure('in flight', grouped(view.inflight)),
      ...figure('CPU', `${view.cpu_share.toFixed(2)} cores`),
      ...figure('memory', bytesText(view.memory_bytes)),
    ],
    [
      ...figure('streams', grouped(streams.open)),
      ...figure('first output', msText(streams.ttft_p50_ms)),
      ...figure('p99', msText(streams.ttft_p99_ms)),
      ...figure('tokens', `${rateText(streams.tokens_per_second)}/s`),
      ...figure('cost', `$${money.spent_usd_per_minute.toFixed(4)}/min`),
    ],
    [
      piece('fronts ', 'faint'),
      share(fronts),
      piece('  worker threads ', 'faint'),
      share(workers),
      piece('  runners ', 'faint'),
      share(runners),
    ],
  ]
}

/** A figure after its name. */
function figure(name: string, text: string, isBad = false): readonly Piece[] {
  return [piece(`${name} `, 'faint'), piece(text, isBad ? 'bad' : 'strong'), piece('  ')]
}

function findingLines({ severity, text, fix }: FindingView): readonly Line[] {
  return [
    [piece(`${severity.padEnd(4)} `, severity), piece(text)],
    [piece('     fix: ', 'faint'), piece(fix)],
  ]
}

function storeLines({ readiness, videos, webhooks, money }: LiveView): readonly Line[] {
  const { postgres, redis } = readiness.dependencies
  const store = (name: string, { state, mode }: typeof postgres): readonly Piece[] => [
    piece(`${name} `, 'faint'),
    piece(state, state === 'up' ? 'good' : 'bad'),
    piece(` ${mode}  `, 'faint'),
  ]
  const jobs = Object.entries(videos.held)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${grouped(count)} ${state}`)
  const calls = `${grouped(money.calls_open)} open, ${grouped(money.calls_waiting)} waiting, refused ${rateText(money.refused_per_second)}/s`
  const books = money.is_journal_broken
    ? 'the journal cannot be written'
    : `ledger delay ${msText(money.journal_lag_ms)}`
  return [
    [...store('Postgres', postgres), ...store('Redis', redis)],
    [
      ...figure('videos', jobs.length === 0 ? 'none held' : jobs.join(', ')),
      ...(webhooks === null
        ? []
        : [
            piece('webhooks ', 'faint'),
            piece(`${grouped(webhooks.waiting)} waiting, `),
            piece(`${grouped(webhooks.dead)} dead`, webhooks.dead > 0 ? 'warn' : 'plain'),
          ]),
    ],
    [
      piece('money ', 'faint'),
      piece(`${calls}, $${money.held_usd.toFixed(2)} lent, `),
      piece(books, money.is_journal_broken ? 'bad' : 'plain'),
    ],
  ]
}

const OPERATIONS: readonly Column<OperationView>[] = [
  { title: 'OPERATION', side: 'left', rank: 0, cell: ({ operation }) => operation },
  { title: 'CALLS/s', side: 'right', rank: 0, cell: ({ per_second: rate }) => rateText(rate) },
  { title: '4xx/s', side: 'right', rank: 3, cell: ({ refused_per_second: rate }) => rateText(rate) },
  {
    title: '5xx/s',
    side: 'right',
    rank: 2,
    cell: ({ failed_per_second: rate }) => rateText(rate),
    tone: ({ failed_per_second: rate }) => (rate > 0 ? 'bad' : 'plain'),
  },
  { title: 'P50', side: 'right', rank: 4, cell: ({ p50_ms: ms }) => msText(ms) },
  { title: 'P99', side: 'right', rank: 1, cell: ({ p99_ms: ms }) => msText(ms) },
]

const FRONTS: readonly Column<FrontView>[] = [
  { title: 'FRONT', side: 'left', rank: 0, cell: ({ front }) => String(front) },
  { title: 'PID', side: 'right', rank: 6, cell: ({ pid }) => String(pid) },
  { title: 'LOOP', side: 'right', rank: 0, cell: ({ utilization }) => percentText(utilization) },
  { title: 'DELAY P99', side: 'right', rank: 1, cell: ({ loop_p99_ms: ms }) => msText(ms) },
  { title: 'MAX', side: 'right', rank: 5, cell: ({ loop_max_ms: ms }) => msText(ms) },
  {
    title: 'JOBS',
    side: 'right',
    rank: 4,
    cell: (front) => percentText(poolOf(front, 'short_jobs')?.utilization ?? 0),
  },
  {
    title: 'WAIT',
    side: 'right',
    rank: 4,
    cell: (front) => msText(poolOf(front, 'short_jobs')?.wait_ms ?? null),
  },
  {
    title: 'TRANSFERS',
    side: 'right',
    rank: 3,
    cell: (front) => percentText(poolOf(front, 'sessions')?.utilization ?? 0),
  },
  {
    title: 'WAIT',
    side: 'right',
    rank: 3,
    cell: (front) => msText(poolOf(front, 'sessions')?.wait_ms ?? null),
  },
]

function poolOf({ pools }: FrontView, name: PoolView['pool']): PoolView | undefined {
  return pools.find(({ pool }) => pool === name)
}

const PROVIDER_TONES: Readonly<Record<ProviderView['state'], Tone>> = {
  ok: 'good',
  failing: 'bad',
  open: 'bad',
  idle: 'faint',
}

const PROVIDERS: readonly Column<ProviderView>[] = [
  { title: 'PROVIDER', side: 'left', rank: 0, cell: ({ provider }) => provider },
  { title: 'ATTEMPTS/s', side: 'right', rank: 1, cell: ({ per_second: rate }) => rateText(rate) },
  { title: 'FAILED/s', side: 'right', rank: 2, cell: ({ failed_per_second: rate }) => rateText(rate) },
  { title: 'STATE', side: 'left', rank: 0, cell: stateText, tone: ({ state }) => PROVIDER_TONES[state] },
]

/** The state of a provider; with an open circuit breaker the time of its opening and of the next probe. */
function stateText({ state, breaker }: ProviderView): string {
  if (breaker === null) return state
  const { since, next_probe_at: probeAt } = breaker
  return `${state} since ${clockText(since)}, ${probeAt === null ? 'next call probes' : `probe at ${clockText(probeAt)}`}`
}

/** Hours, minutes and seconds in UTC of an ISO instant. */
function clockText(instant: string): string {
  return instant.slice(11, 19)
}

/** A rate with three significant digits. */
function rateText(perSecond: number): string {
  return perSecond >= 100
    ? grouped(Math.round(perSecond))
    : perSecond === 0
      ? '0'
      : perSecond < 0.05
        ? '<0.1'
        : perSecond.toFixed(1)
}

/** Milliseconds as a text; null: no measurement. */
function msText(ms: number | null): string {
  if (ms === null) return '-'
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(0)} s`
  return ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`
}

function bytesText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20
  return mebibytes >= 10_240 ? `${(mebibytes / 1_024).toFixed(1)} GiB` : `${Math.round(mebibytes)} MiB`
}

function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 120) return `${whole} s`
  return whole < 7_200 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3_600)} h`
}

function grouped(whole: number): string {
  return String(whole).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

interface Column<Row> {
  readonly title: string
  /** Figures are aligned to the right. */
  readonly side: 'left' | 'right'
  /** On a narrow terminal the columns with the highest rank are omitted first; rank 0 is always shown. */
  readonly rank: number
  cell(row: Row): string
  tone?(row: Row): Tone
}

/** Least width of the first column before another column is left out. */
const FIRST_COLUMNS_MIN = 12
/** Columns between two columns of the table. */
const GAP = 2

/**
 * A head and a line for each row, no wider than the terminal: columns are left out by rank, then the first
 * one is cut. Without a row there is no head either.
 */
function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): readonly Line[] {
  if (rows.length === 0) return []
  const widths = new Map(
    columns.map((column) => [
      column,
      Math.max(widthOf(column.title), ...rows.map((row) => widthOf(column.cell(row)))),
    ]),
  )
  const kept = keptOf(columns, widths, width)
  const [first] = kept
  const others = kept.slice(1).reduce((sum, column) => sum + GAP + (widths.get(column) ?? 0), 0)
  const widthIn = (column: Column<Row>): number =>
    column === first
      ? Math.min(widths.get(column) ?? 0, Math.max(1, width - others))
      : (widths.get(column) ?? 0)
  const lineOf = (read: (column: Column<Row>) => { text: string; tone: Tone }): Line =>
    kept.flatMap((column, nth) => {
      const { text, tone } = read(column)
      return [
        ...(nth === 0 ? [] : [piece(' '.repeat(GAP))]),
        piece(fitted(text, widthIn(column), column.side), tone),
      ]
    })
  return [
    lineOf(({ title }) => ({ text: title, tone: 'faint' })),
    ...rows.map((row) =>
      lineOf((column) => ({ text: column.cell(row), tone: column.tone?.(row) ?? 'plain' })),
    ),
  ]
}

function keptOf<Row>(
  columns: readonly Column<Row>[],
  widths: ReadonlyMap<Column<Row>, number>,
  width: number,
): readonly Column<Row>[] {
  let kept = columns
  const needed = (): number =>
    kept.reduce(
      (sum, column, nth) =>
        sum +
        (nth === 0 ? Math.min(FIRST_COLUMNS_MIN, widths.get(column) ?? 0) : GAP + (widths.get(column) ?? 0)),
      0,
    )
  while (needed() > width) {
    const rank = Math.max(...kept.map((column) => column.rank))
    if (rank === 0) break
    kept = kept.filter((column) => column.rank !== rank)
  }
  return kept
}
