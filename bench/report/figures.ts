/** Formats figures for the page. A missing figure is a dash: NaN in memory, null in a file. */
import type { Interval, Spread } from '../statistics.ts'
import { html, type Markup } from './markup.ts'

export const NOT_TAKEN = '–'

/** Three significant digits, and all digits before the point. */
export function figure(value: number | null): string {
  if (!isTaken(value)) return NOT_TAKEN
  const size = Math.abs(value)
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A ratio with two digits after the point where they matter, since readers compare it with 1. */
export function ratioFigure(value: number): string {
  if (!isTaken(value)) return NOT_TAKEN
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value >= 0.1 ? value.toFixed(2) : value.toFixed(3)
}

export function range({ low, high }: Pick<Interval, 'low' | 'high'>): string {
  return `${ratioFigure(low)}–${ratioFigure(high)}`
}

/** The median, with the least and most where they differ. */
export function spreadMarkup(of: Spread | null): Markup {
  const text = spreadParts(of)
  return text.bounds === null ? html`${text.median}` : html`${text.median} <small>${text.bounds}</small>`
}

export function spreadText(of: Spread | null): string {
  const { median, bounds } = spreadParts(of)
  return bounds === null ? median : `${median} (${bounds})`
}

function spreadParts(of: Spread | null): { readonly median: string; readonly bounds: string | null } {
  if (of === null || !isTaken(of.median)) return { median: NOT_TAKEN, bounds: null }
  const [median, min, max] = [figure(of.median), figure(of.min), figure(of.max)]
  return { median, bounds: min === median && max === median ? null : `${min}–${max}` }
}

export function scaled(of: Spread | null, by: number): Spread | null {
  return of === null || !isTaken(of.median)
    ? null
    : { median: of.median * by, min: of.min * by, max: of.max * by }
}

/** False for null too: the type of a figure is number, but a file cannot hold NaN. */
export function isTaken(value: number | null | undefined): value is number {
  return Number.isFinite(value)
}

/** A chosen value, not a measured one: unchanged. */
export function plain(value: number): string {
  return isTaken(value) ? value.toLocaleString('en-US', { maximumFractionDigits: 3 }) : NOT_TAKEN
}

export function bytes(value: number): string {
  if (value < 1_000) return `${plain(value)} B`
  return value < 1_000_000 ? `${plain(value / 1_000)} KB` : `${plain(value / 1_000_000)} MB`
}

export function duration(seconds: number): string {
  if (!isTaken(seconds)) return NOT_TAKEN
  return seconds < 90
    ? `${Math.round(seconds)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`
}
