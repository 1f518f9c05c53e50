/** Latency against offered load, drawn: who waits how long as the load grows. */
import type { CurveRecord, ResultsFile } from '../record.ts'
import { isOurs, isProduct } from './comparisons.ts'
import { figure, isTaken, plain } from './figures.ts'
import { isOfLatency, latenciesAtLoad } from './loads.ts'
import { html, type Markup } from './markup.ts'
import { placesOf } from './places.ts'
import { legend, plot, type PlotLine } from './svg/plot.ts'
import { linearScale, logScale } from './svg/scale.ts'

/** The percentiles that the result shows. */
const SHOWN = [/\bp50\b/i, /\bp99(?![.\d])/i]

/** Curves of one kind of call with the product and another subject, in the order of `SHOWN`. */
export function curvesOfResult({ scenarios }: ResultsFile): readonly CurveRecord[] {
  const found = scenarios.flatMap(({ curves }) => curves).filter(isOfPeers)
  return SHOWN.flatMap((percentile) => found.find(({ title }) => percentile.test(title)) ?? [])
}

function isOfPeers(curve: CurveRecord): boolean {
  const drawn = curve.lines.filter(({ points }) => points.some(isDrawn))
  return (
    isOfLatency(curve) && drawn.some(({ name }) => isProduct(name)) && drawn.some(({ name }) => !isOurs(name))
  )
}

/** A logarithm exists only above zero. */
function isDrawn([x, y]: readonly [number, number]): boolean {
  return isTaken(x) && isTaken(y) && y > 0
}

export function loadFigure(curve: CurveRecord): Markup {
  const taken = curve.lines
    .map(({ name, points }) => ({ name, points: points.filter(isDrawn).toSorted(([a], [b]) => a - b) }))
    .filter(({ points }) => points.length > 0)
  const all = taken.flatMap(({ points }) => points)
  const [xScale, yScale] = [linearScale(all.map(([x]) => x)), logScale(all.map(([, y]) => y))]
  const places = placesOf(curve.lines.map(({ name }) => name))
  const lines = taken.map(({ name, points }): PlotLine => ({
    name,
    place: places.get(name) ?? 0,
    points: points.map(([x, y]) => ({
      x: xScale.at(x),
      y: yScale.at(y),
      bounds: null,
      text: `${name}: ${figure(y)} ${curve.y} at ${plain(Math.round(x))} ${curve.x}`,
    })),
  }))
  const atLoad = latenciesAtLoad(curve)
  return html`<figure><figcaption>${curve.title} <small>logarithmic, less is better</small></figcaption>
${plot({
  label: `${curve.title}. ${atLoad.map(({ text }) => text).join('; ')}`,
  xTitle: curve.x,
  yTitle: curve.y,
  xTicks: xScale.ticks,
  yTicks: yScale.ticks,
  lines,
})}${legend(lines)}</figure>`
}
