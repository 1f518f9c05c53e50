/** The record of a scenario as text for the terminal: everything but the samples and curves. */
import { FURTHER_FIGURES } from './report/further-figures.ts'
import {
  checkResult,
  GENERATOR_CORES_MAX,
  type CheckRecord,
  type RatioMetric,
  type RatioRecord,
  type ResultRow,
  type ScenarioRecord,
} from './record.ts'
import type { Spread } from './statistics.ts'
import { columns, spreadText } from './text.ts'

type Column = readonly [title: string, digits: number, read: (row: ResultRow) => Spread | null]

const MS = 1_000
/** Stands for the digits of a whole number. */
const COUNTED = -1
const COLUMNS: readonly Column[] = [
  ['CPU µs/request', 1, (row) => row.cpu_us_per_request],
  ['CPU s/GB', 2, (row) => row.cpu_s_per_gb],
  ['requests/s', 0, (row) => row.requests_per_second],
  ['MB/s', 0, (row) => row.mb_per_second],
  ['p50 ms', 2, (row) => scaled(row.latency_us?.p50)],
  ['p90 ms', 2, (row) => scaled(row.latency_us?.p90)],
  ['p99 ms', 2, (row) => scaled(row.latency_us?.p99)],
  ['p99.9 ms', 1, (row) => scaled(row.latency_us?.p99_9)],
  ['RSS MB', 0, (row) => row.rss_mb],
  ...FURTHER_FIGURES.map(({ name, title, digits }): Column => [
    title,
    digits ?? COUNTED,
    (row) => row.figures?.[name] ?? null,
  ]),
]

export const METRIC_TEXTS: Readonly<Record<RatioMetric, string>> = {
  cpu_us_per_request: 'CPU per request',
  cpu_s_per_gb: 'CPU a GB',
  requests_per_second: 'requests per second',
  mb_per_second: 'MB per second',
}

/** @returns the lines of the text */
export function recordText(record: ScenarioRecord): readonly string[] {
  const cases = [...new Set(record.rows.map((row) => row.case))]
  const isUnjudged = record.checks.some((one) => checkResult(one) === 'not judged')
  const isLimited = record.rows.some((row) => row.is_generator_limit)
  return [
    `${record.scenario}: ${record.question}`,
    `settings ${Object.entries(record.settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}; median (least–most) of the repeats`,
    ...cases.flatMap((name) => [
      '',
      ...caseLines(
        name,
        record.rows.filter((row) => row.case === name),
      ),
    ]),
    ...section(record.ratios.map((one) => ratioLine(one, record.rows))),
    ...section(record.checks.map(checkLine)),
    ...section([
      ...record.rows.flatMap((row) =>
        row.failures.map((text) => `failed: ${row.subject}, ${row.case}: ${text}`),
      ),
      ...record.subjects.map(({ name, note }) => `${name}: ${note}`),
      ...record.absent.map(({ name, reason }) => `${name}: left out, ${reason}`),
      ...record.notes,
      ...(isUnjudged
        ? ['not judged: one repeat shows no spread; --repeats 2 and more judge such a figure']
        : []),
      ...(isLimited
        ? [
            `* the generator used more than ${GENERATOR_CORES_MAX} of a core: the rate may be its limit; CPU of a request still holds`,
          ]
        : []),
    ]),
  ]
}

/** Lines of one case; a column without any figure is left out. */
function caseLines(name: string, rows: readonly ResultRow[]): readonly string[] {
  const shown = COLUMNS.filter(([, , read]) => rows.some((row) => isFigure(read(row))))
  const head = [name, ...shown.map(([title]) => title), 'generator', 'failed']
  return columns([
    head,
    ...rows.map((row) => [
      row.subject,
      ...shown.map(
        ([title, digits, read]) =>
          cell(read(row), digits) + (title === 'requests/s' && row.is_generator_limit ? ' *' : ''),
      ),
      spreadText(row.generator_cores, 2),
      String(row.failed),
    ]),
  ])
}

/** A figure with enough digits: a small number has more of them. */
function cell(of: Spread | null, digits: number): string {
  if (of === null || !isFigure(of)) return '–'
  if (digits === COUNTED) return spreadText(of, 0)
  const size = Math.abs(of.median)
  return spreadText(of, (size < 10 && digits === 0) || (size < 1 && digits === 1) ? digits + 2 : digits)
}

/** @param rows of the same scenario: what was taken once has no interval */
export function ratioLine(
  { case: name, metric, over, under, ratio }: RatioRecord,
  rows: readonly Pick<ResultRow, 'case' | 'subject' | 'samples'>[],
): string {
  const isOnce = rows.some((row) => row.case === name && row.subject === over && row.samples.length < 2)
  const interval = isOnce ? 'taken once' : `95 % ${ratio.low.toFixed(3)}–${ratio.high.toFixed(3)}`
  return `${name}: ${METRIC_TEXTS[metric]}, ${over} over ${under} ${ratio.median.toFixed(3)} (${interval})`
}

export function checkLine(one: CheckRecord): string {
  const bound = one.at_least === null ? `at most ${figure(one.at_most)}` : `at least ${figure(one.at_least)}`
  const failed = one.failed === 0 ? '' : `, ${one.failed} failed`
  return `${checkResult(one).toUpperCase().padEnd(6)} ${one.text}: ${spreadText(one.found, 3)}, ${bound}${failed}`
}

function figure(value: number | null): string {
  return value === null ? '–' : String(Math.round(value * 1e4) / 1e4)
}

function section(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', ...lines]
}

function isFigure(of: Spread | null): boolean {
  return of !== null && Number.isFinite(of.median)
}

function scaled(of: Spread | undefined): Spread | null {
  return of === undefined || !isFigure(of)
    ? null
    : { median: of.median / MS, min: of.min / MS, max: of.max / MS }
}
