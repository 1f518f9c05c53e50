/** Latency against offered load, drawn: who waits how long as the load grows. */
import type { CurveRecord, ResultsFile, ScenarioRecord } from '../record.ts'
import { isOurs, isProduct } from './comparisons.ts'
import { figure, isTaken, plain } from './figures.ts'
import { isOfLatency, latenciesAtLoad } from './loads.ts'
import { html, type Markup } from './markup.ts'
import { placesOf } from './places.ts'
import { legend, plot, type PlotLine } from './svg/plot.ts'
import { linearScale, logScale } from './svg/scale.ts'

/** The percentiles that the result shows. */
const SHOWN = [/\bp50\b/i, /\bp99(?![.\d])/i]

export interface LoadCurve {
  readonly curve: CurveRecord
  /** True when no load was offered twice. */
  readonly isOnce: boolean
}

/** Curves of one kind of call with the product and another subject, in the order of `SHOWN`. */
export function curvesOfResult({ scenarios }: ResultsFile): readonly LoadCurve[] {
  const found = scenarios.flatMap((scenario) =>
    scenario.curves.filter(isOfPeers).map((curve) => ({ curve, isOnce: isTakenOnce(scenario) })),
  )
  return SHOWN.flatMap((percentile) => found.find(({ curve }) => percentile.test(curve.title)) ?? [])
}

function isTakenOnce({ rows }: ScenarioRecord): boolean {
  const open = rows.filter(({ pace }) => pace === 'open')
  return open.length > 0 && open.every(({ samples }) => samples.length < 2)
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

export function loadFigure({ curve, isOnce }: LoadCurve): Markup {
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
    .map(({ text }) => text)
    .join('; ')
  const once = isOnce ? ', taken once, and so not judged' : ''
  return html`<figure><figcaption>${curve.title} <small>logarithmic, less is better${once}</small></figcaption>
${plot({
  label: `${curve.title}. ${atLoad}`,
  xTitle: curve.x,
  yTitle: curve.y,
  xTicks: xScale.ticks,
  yTicks: yScale.ticks,
  lines,
})}${legend(lines)}
${atLoad === '' ? null : html`<p class="hint">At the highest load that both were offered: ${atLoad}.</p>`}</figure>`
}
