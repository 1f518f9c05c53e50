/**
 * Lines on a plane, as SVG of our own: drawn without a script, as wide as its place, in the colours of the
 * page. Places across are percent, so that text keeps its size where the plot shrinks.
 */
import { isProduct } from '../comparisons.ts'
import { html, type Markup } from '../markup.ts'
import { colourAt, dashAt } from '../places.ts'
import type { Tick } from './scale.ts'

export interface PlotPoint {
  /** 0: left; 1: right. */
  readonly x: number
  /** 0: bottom; 1: top. */
  readonly y: number
  /** Least and most of the repeats; null: there was one. */
  readonly bounds: readonly [low: number, high: number] | null
  readonly text: string
}

export interface PlotLine {
  readonly name: string
  readonly place: number
  readonly points: readonly PlotPoint[]
}

export interface Plot {
  /** What readers hear who do not see it. */
  readonly label: string
  readonly xTitle: string
  readonly yTitle: string
  readonly xTicks: readonly Tick[]
  readonly yTicks: readonly Tick[]
  readonly lines: readonly PlotLine[]
}

const HEIGHT = 200
/** Width of the coordinates of lines, which the page stretches to that of the plot. */
const WIDTH = 1_000
const DOT = 2.6

export function plot({ label, xTitle, yTitle, xTicks, yTicks, lines }: Plot): Markup {
  // The product lies above the others.
  const ordered = lines.toSorted((a, b) => Number(isProduct(a.name)) - Number(isProduct(b.name)))
  return html`<div class="drawn"><p class="axis">${yTitle}</p>
<svg role="img" aria-label="${label}" height="${HEIGHT}">
<g class="grid">${yTicks.map(yTick)}${xTicks.map(xTick)}</g>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" width="100%" height="${HEIGHT}">${ordered.map(band)}${ordered.map(line)}</svg>
${ordered.map(dots)}</svg>
<p class="axis across">${xTitle}</p></div>`
}

/** The names of the lines with their strokes. */
export function legend(lines: readonly Pick<PlotLine, 'name' | 'place'>[]): Markup {
  return html`<ul class="legend">${lines.map(
    (one) =>
      html`<li><svg width="26" height="10" aria-hidden="true"><line class="${strokeOf(one)}" x1="0" x2="26" y1="5" y2="5"/></svg> ${one.name}</li>`,
  )}</ul>`
}

function strokeOf({ name, place }: Pick<PlotLine, 'name' | 'place'>): string {
  return `line l${colourAt(place)} d${dashAt(place)}${isProduct(name) ? ' ours' : ''}`
}

const down = (y: number): string => ((1 - y) * HEIGHT).toFixed(1)
const across = (x: number): string => `${(x * 100).toFixed(2)}%`
const inLine = (x: number, y: number): string => `${(x * WIDTH).toFixed(1)},${down(y)}`

function yTick({ at, text }: Tick): Markup {
  const y = down(at)
  return html`<line x1="0" x2="100%" y1="${y}" y2="${y}"/><text x="0" y="${y}" dx="-6" dy="4" text-anchor="end">${text}</text>`
}

function xTick({ at, text }: Tick): Markup {
  const x = across(at)
  return html`<line x1="${x}" x2="${x}" y1="0" y2="${HEIGHT}"/><text x="${x}" y="${HEIGHT}" dy="16" text-anchor="middle">${text}</text>`
}

function line(one: PlotLine): Markup | null {
  if (one.points.length < 2) return null
  return html`<polyline class="${strokeOf(one)}" points="${one.points.map(({ x, y }) => inLine(x, y)).join(' ')}"/>`
}

/** Where the repeats lay, behind the line of their medians. */
function band({ place, points }: PlotLine): Markup | null {
  const bounded = points.flatMap(({ x, bounds }) => (bounds === null ? [] : [{ x, bounds }]))
  if (bounded.length < 2) return null
  const high = bounded.map(({ x, bounds }) => inLine(x, bounds[1]))
  const low = bounded.map(({ x, bounds }) => inLine(x, bounds[0])).reverse()
  return html`<polygon class="band l${colourAt(place)}" points="${[...high, ...low].join(' ')}"/>`
}

function dots({ place, points }: PlotLine): Markup {
  return html`${points.map(
    ({ x, y, text }) =>
      html`<circle class="dot l${colourAt(place)}" cx="${across(x)}" cy="${down(y)}" r="${DOT}"><title>${text}</title></circle>`,
  )}`
}
