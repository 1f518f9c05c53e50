/** How reports are printed and kept. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from './machine.ts'
import type { Spread } from './statistics.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface ReportHead {
  readonly scenario: string
  readonly at: string
  readonly machine: Machine
  readonly settings: Readonly<Record<string, string | number>>
}

/** What the figures were taken on and with. */
export function headLines({ scenario, machine, settings }: ReportHead): readonly string[] {
  return [
    `${scenario} on ${machine.cores} × ${machine.cpu}, Node ${machine.node}, glibc ${machine.glibc}, Linux ${machine.kernel}, ` +
      `load before ${machine.loadBefore}`,
    `settings ${Object.entries(settings).map(([name, value]) => `${name}=${value}`).join(' ')}; median (least–most) of the repeats`,
  ]
}

/** Least and most are left out where they say nothing. */
export function spreadText(of: Spread, digits: number): string {
  const print = (value: number): string => (Number.isFinite(value) ? value.toFixed(digits) : '–')
  return of.min === of.max || Number.isNaN(of.median)
    ? print(of.median)
    : `${print(of.median)} (${print(of.min)}–${print(of.max)})`
}

/** @param lines cells; the first of each is a name */
export function columns(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  return lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ').trimEnd(),
  )
}

/** @param file where to; null = a new one in `bench/results` */
export async function keepReport(report: ReportHead, { text, file }: { readonly text: string; readonly file: string | null }): Promise<void> {
  const path = file ?? join(ROOT, 'bench/results', `${report.scenario}-${report.at.replace(/[:.]/g, '-')}.json`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(report, null, 2)}\n`)
  process.stdout.write(`${text}\n\nwritten to ${path}\n`)
}
