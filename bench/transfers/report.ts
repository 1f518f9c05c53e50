import { checkLine, type FigureCheck } from '../figure.ts'
import type { Machine } from '../machine.ts'
import { spread, type Spread } from '../statistics.ts'
import { columns, headLines, spreadText } from '../text.ts'
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

export function transferTables(report: TransferReport): string {
  const tables = report.tables.flatMap(({ title, rows }) => ['', title, ...columns([HEAD, ...rows.map(cells)])])
  const failures = report.tables.flatMap(({ rows }) =>
    rows.flatMap((row) => row.failures.map((text) => `failed: ${row.name}, ${row.connections} × ${bytesText(row.payloadBytes)}: ${text}`)),
  )
  return [
    ...headLines(report),
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
    spreadText(row.mbPerS, row.mbPerS.median < 10 ? 2 : 0) + (row.isGeneratorLimit ? ' *' : ''),
    spreadText(row.filesPerS, row.filesPerS.median < 100 ? 1 : 0),
    spreadText(row.mainPerGb, 2),
    spreadText(row.threadsPerGb, 2),
    spreadText(row.restPerGb, 2),
    spreadText(row.growthMb, 0),
    spreadText(row.loopP99Ms, 1),
    spreadText(row.p99Ms, 0),
    spreadText(row.generatorCores, 2),
    String(row.failed),
  ]
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
