import type { Machine } from './machine.ts'
import type { Repeat } from './measure.ts'
import { spread, type Spread } from './statistics.ts'
import { columns, headLines, spreadText } from './text.ts'

export interface Row {
  readonly name: string
  readonly cpuUs: Spread
  readonly requestsPerS: Spread
  readonly p50Ms: Spread
  readonly p90Ms: Spread
  readonly p99Ms: Spread
  /** At one connection. */
  readonly aloneP50Us: Spread
  readonly failed: number
  readonly isGeneratorLimit: boolean
}

/** A figure that the gateway must reach, with the two rows that it is taken from. */
export interface Check {
  readonly text: string
  readonly found: Spread
  readonly atMost: number
  /** Answers of its rows that were not 200. */
  readonly failed: number
  readonly isMet: boolean
}

export interface Report {
  readonly scenario: string
  readonly at: string
  readonly machine: Machine
  readonly settings: Readonly<Record<string, number>>
  readonly rows: readonly Row[]
  readonly checks: readonly Check[]
  readonly notes: readonly string[]
}

export function rowOf(name: string, repeats: readonly Repeat[]): Row {
  const of = (read: (repeat: Repeat) => number): Spread => spread(repeats.map(read))
  return {
    name,
    cpuUs: of((repeat) => repeat.loaded.cpuUs),
    requestsPerS: of((repeat) => repeat.loaded.requestsPerS),
    p50Ms: of((repeat) => repeat.loaded.p50Ms),
    p90Ms: of((repeat) => repeat.loaded.p90Ms),
    p99Ms: of((repeat) => repeat.loaded.p99Ms),
    aloneP50Us: of((repeat) => repeat.alone.p50Ms * 1_000),
    failed: repeats.reduce((sum, repeat) => sum + repeat.loaded.failed + repeat.alone.failed, 0),
    isGeneratorLimit: repeats.some((repeat) => repeat.loaded.isGeneratorLimit),
  }
}

/** Median of the ratios inside each repeat: what slowed the machine down slowed both sides. */
export function ratio(
  over: readonly Repeat[],
  under: readonly Repeat[],
  read: (repeat: Repeat) => number,
): Spread {
  return spread(
    over.flatMap((repeat, index) => {
      const other = under[index]
      return other === undefined ? [] : [read(repeat) / read(other)]
    }),
  )
}

/** @param rows those that the figure is taken from: a server that only refuses is cheap, and proves nothing */
export function check(text: string, found: Spread, { atMost, rows }: Bound): Check {
  const failed = rows.reduce((sum, row) => sum + row.failed, 0)
  return { text, found, atMost, failed, isMet: found.median <= atMost && failed === 0 }
}

export interface Bound {
  readonly atMost: number
  readonly rows: readonly Pick<Row, 'failed'>[]
}

export function table(report: Report): string {
  const head = ['', 'CPU µs/request', 'requests/s', 'p50 ms', 'p90 ms', 'p99 ms', 'p50 alone µs', 'not 200']
  const body = report.rows.map((row) => [
    row.name,
    spreadText(row.cpuUs, 1),
    spreadText(row.requestsPerS, 0) + (row.isGeneratorLimit ? ' *' : ''),
    spreadText(row.p50Ms, 2),
    spreadText(row.p90Ms, 2),
    spreadText(row.p99Ms, 2),
    spreadText(row.aloneP50Us, 0),
    String(row.failed),
  ])
  const checks = report.checks.map(
    (one) =>
      `${one.isMet ? 'met   ' : 'MISSED'} ${one.text}: ${spreadText(one.found, 3)}, at most ${one.atMost.toFixed(3)}` +
      (one.failed === 0 ? '' : `, ${one.failed} answers were not 200`),
  )
  return [
    ...headLines(report),
    '',
    ...columns([head, ...body]),
    '',
    ...checks,
    '',
    ...report.notes,
  ].join('\n')
}
