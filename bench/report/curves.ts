/** Lines over one axis: drawn by the page's script, and as a table for readers without it. */
import type { CurveRecord } from '../record.ts'
import { isOfLatency } from './loads.ts'
import { figure, isTaken, NOT_TAKEN, plain } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { colourAt, dashAt, placesOf } from './places.ts'

interface Where {
  /** Index of the scenario in the file, and of the curve in the scenario. */
  readonly scenarioAt: number
  readonly curveAt: number
  /** Names of all lines of the scenario. */
  readonly names: readonly string[]
}

export function curveFigure(curve: CurveRecord, { scenarioAt, curveAt, names }: Where): Markup {
  const xs = [...new Set(curve.lines.flatMap(({ points }) => points.map(([x]) => x)))]
    .filter(isTaken)
    .sort((a, b) => a - b)
  if (xs.length === 0)
    return html`<figure class="curve"><figcaption>${curve.title}</figcaption><p>No point was taken.</p></figure>`
  const scale = isLogarithmic(curve) ? 'log' : 'linear'
  return html`<figure class="curve"><figcaption>${curve.title}${scale === 'log' ? ' (logarithmic)' : null}</figcaption>
<div class="plot" role="group" tabindex="0" data-scenario="${scenarioAt}" data-curve="${curveAt}" data-scale="${scale}"
data-strokes="${JSON.stringify(strokes(curve, names))}"
aria-label="${curve.title}: ${curve.y} against ${curve.x}. Left and right arrow keys read the points; the table below has all of them."></div>
<p class="reading" aria-live="polite"></p>
<details><summary>Values of this plot</summary><div class="scroll" role="region" tabindex="0" aria-label="Values of ${curve.title}"><table>
<caption>${curve.y}</caption>
<thead><tr><th scope="col" class="n">${curve.x}</th>${curve.lines.map(({ name }) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
<tbody>${tableRows(curve, xs)}</tbody></table></div></details></figure>`
}

function tableRows({ lines }: CurveRecord, xs: readonly number[]): readonly Markup[] {
  const byX = lines.map(({ points }) => new Map(points))
  return xs.map(
    (x) => html`
<tr><th scope="row" class="n">${plain(x)}</th>${byX.map((values) => {
      const y = values.get(x)
      return html`<td class="n">${y === undefined ? NOT_TAKEN : figure(y)}</td>`
    })}</tr>`,
  )
}

/** Colour and dash of each line. */
function strokes({ lines }: CurveRecord, names: readonly string[]): readonly (readonly [number, number])[] {
  const places = placesOf(names)
  return lines.map(({ name }) => {
    const place = places.get(name) ?? 0
    return [colourAt(place), dashAt(place)]
  })
}

/** Latencies differ by powers of ten; a logarithm exists only above 0. */
function isLogarithmic(curve: CurveRecord): boolean {
  const values = curve.lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(isTaken)
  return isOfLatency(curve) && values.length > 0 && values.every((value) => value > 0)
}
