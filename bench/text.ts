/** Formats figures for the terminal. */
import { fileURLToPath } from 'node:url'
import type { Machine } from './machine.ts'
import type { Spread } from './statistics.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** One line about the machine of the figures. */
export function headLine(machine: Machine): string {
  return `on ${machine.cores} × ${machine.cpu}, Node ${machine.node}, glibc ${machine.glibc}, Linux ${machine.kernel}, load before ${machine.loadBefore}`
}

/** A figure; least and most are left out where they are equal. */
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
    line
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

export function bytesText(bytes: number): string {
  return bytes >= 1e6 ? `${bytes / 1e6} MB` : `${bytes / 1e3} KB`
}
