import type { Machine } from '../machine.ts'
import { spread, type Spread } from '../measure.ts'
import type { TransferSample } from './measure.ts'
import { totalOf, type Memory } from './resources.ts'

export interface TransferRow {
  readonly name: string
  readonly connections: number
  readonly payloadBytes: number
  readonly mbPerS: Spread
  readonly filesPerS: Spread
  readonly mainPerGb: Spread
  readonly threadsPerGb: Spread
  readonly restPerGb: Spread
  readonly growthMb: Spread
  readonly loopP99Ms: Spread
  readonly p99Ms: Spread
  readonly generatorCores: Spread
  readonly isGeneratorLimit: boolean
  readonly failed: number
  readonly failures: readonly string[]
}

/** A figure that the product must reach. */
export interface FigureCheck {
  readonly text: string
  readonly found: Spread
  readonly atLeast?: number
  readonly atMost?: number
  /** Transfers that failed while it was taken: a server that refuses is quick, and proves nothing. */
  readonly failed: number
  readonly isMet: boolean
}

export interface TransferReport {
  readonly scenario: string
  readonly at: string
  readonly machine: Machine
  readonly settings: Readonly<Record<string, string | number>>
  readonly tables: readonly { readonly title: string; readonly rows: readonly TransferRow[] }[]
  /** Figures without a bound, a line each. */
  readonly facts: readonly string[]
  readonly checks: readonly FigureCheck[]
  readonly notes: readonly string[]
}

export function transferRow(
  name: string,
  { connections, payloadBytes }: { readonly connections: number; readonly payloadBytes: number },
  samples: readonly TransferSample[],
): TransferRow {
  const of = (read: (sample: TransferSample) => number): Spread => spread(samples.map(read))
  return {
    name,
    connections,
    payloadBytes,
    mbPerS: of((one) => one.mbPerS),
    filesPerS: of((one) => one.filesPerS),
    mainPerGb: of((one) => one.mainPerGb),
    threadsPerGb: of((one) => one.threadsPerGb),
    restPerGb: of((one) => one.restPerGb),
    growthMb: of((one) => growthOf(one) / 1e6),
    loopP99Ms: of((one) => one.loopP99Ms ?? Number.NaN),
    p99Ms: of((one) => one.p99Ms),
    generatorCores: of((one) => one.generatorCores),
    isGeneratorLimit: samples.some((one) => one.isGeneratorLimit),
    failed: samples.reduce((sum, one) => sum + one.failed, 0),
    failures: [...new Set(samples.flatMap((one) => one.failures))].slice(0, 3),
  }
}

/** Median of the ratios inside each repeat: what slowed the machine down slowed both sides. */
export function transferRatio(
  over: readonly TransferSample[],
  under: readonly TransferSample[],
  read: (sample: TransferSample) => number,
): Spread {
  return spread(
    over.flatMap((sample, index) => {
      const other = under[index]
      return other === undefined ? [] : [read(sample) / read(other)]
    }),
  )
}

export type FigureBound = { readonly atLeast: number } | { readonly atMost: number }

/** @param samples those that the figure is taken from */
export function figureCheck(
  text: string,
  found: Spread,
  { bound, samples }: { readonly bound: FigureBound; readonly samples: readonly Pick<TransferSample, 'failed'>[] },
): FigureCheck {
  const failed = samples.reduce((sum, one) => sum + one.failed, 0)
  const isWithin = 'atLeast' in bound ? found.median >= bound.atLeast : found.median <= bound.atMost
  return { text, found, ...bound, failed, isMet: isWithin && failed === 0 && samples.length > 0 }
}

export function transferTables(report: TransferReport): string {
  const { machine } = report
  const tables = report.tables.flatMap(({ title, rows }) => ['', title, ...columns([HEAD, ...rows.map(cells)])])
  const failures = report.tables.flatMap(({ rows }) =>
    rows.flatMap((row) => row.failures.map((text) => `failed: ${row.name}, ${row.connections} × ${bytesText(row.payloadBytes)}: ${text}`)),
  )
  return [
    `${report.scenario} on ${machine.cores} × ${machine.cpu}, Node ${machine.node}, glibc ${machine.glibc}, Linux ${machine.kernel}, ` +
      `load before ${machine.loadBefore}`,
    `settings ${Object.entries(report.settings).map(([name, value]) => `${name}=${value}`).join(' ')}; median (least–most) of the repeats`,
    ...tables,
    '',
    ...report.checks.map(checkLine),
    '',
    ...report.facts,
    ...failures,
    ...report.notes,
  ].join('\n')
}

const HEAD = [
  '', 'at once', 'file', 'MB/s', 'files/s', 'CPU s/GB main', 'threads', 'others', 'RSS +MB', 'loop p99 ms', 'file p99 ms',
  'generator', 'failed',
]

function cells(row: TransferRow): readonly string[] {
  return [
    row.name,
    String(row.connections),
    bytesText(row.payloadBytes),
    text(row.mbPerS, row.mbPerS.median < 10 ? 2 : 0) + (row.isGeneratorLimit ? ' *' : ''),
    text(row.filesPerS, row.filesPerS.median < 100 ? 1 : 0),
    text(row.mainPerGb, 2),
    text(row.threadsPerGb, 2),
    text(row.restPerGb, 2),
    text(row.growthMb, 0),
    text(row.loopP99Ms, 1),
    text(row.p99Ms, 0),
    text(row.generatorCores, 2),
    String(row.failed),
  ]
}

function checkLine(one: FigureCheck): string {
  const bound = one.atLeast === undefined ? `at most ${one.atMost}` : `at least ${one.atLeast}`
  const failed = one.failed === 0 ? '' : `, ${one.failed} transfers failed`
  return `${one.isMet ? 'MET   ' : 'MISSED'} ${one.text}: ${text(one.found, 3)}, ${bound}${failed}`
}

/** Bytes by which all processes together were above idle. */
export function growthOf({ idle, peak }: Pick<TransferSample, 'idle' | 'peak'>): number {
  return totalOf(peak) - totalOf(idle)
}

/** Where the memory of a load went, in a line. */
export function growthText(text: string, one: TransferSample): string {
  return (
    `${text}, RSS in MB: idle ${memoryText(one.idle)}; at most ${memoryText(one.peak)}; ` +
    `with what processes share counted once (PSS) +${(one.sharedOnceGrowth / 1e6).toFixed(0)}`
  )
}

export function memoryText(memory: Memory): string {
  const parts = Object.entries(memory).sort(([, a], [, b]) => b - a)
  return parts.map(([kind, bytes]) => `${kind} ${(bytes / 1e6).toFixed(0)}`).join(', ')
}

export function bytesText(bytes: number): string {
  return bytes >= 1e6 ? `${bytes / 1e6} MB` : `${bytes / 1e3} KB`
}

function text(of: Spread, digits: number): string {
  const print = (value: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '–')
  return of.min === of.max || Number.isNaN(of.median)
    ? print(of.median)
    : `${print(of.median)} (${print(of.min)}–${print(of.max)})`
}

function columns(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = HEAD.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  return lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ').trimEnd(),
  )
}
