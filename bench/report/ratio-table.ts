/** All ratios of a scenario with their intervals, drawn on one scale. */
import { IS_LESS_BETTER, type Comparison, type Verdict } from './comparisons.ts'
import { isTaken, range, ratioFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { metricName } from './sentences.ts'

export function ratioTable(scenario: string, comparisons: readonly Comparison[]): Markup | null {
  if (comparisons.length === 0) return null
  const scale = scaleOf(comparisons)
  const hasCount = comparisons.some(({ repeats }) => repeats !== null)
  const table = html`<p class="hint">Left of the line at 1 is less, right of it is more; the scale is logarithmic. Dot: median; line: interval.</p>
<div class="scroll" role="region" tabindex="0" aria-label="Ratios of ${scenario}"><table class="ratios">
<thead><tr><th scope="col">Case</th><th scope="col">Figure</th><th scope="col">Of which</th><th scope="col" class="n">Ratio</th>
<th scope="col" class="n">Interval</th><th scope="col">${scaleText(scale)}</th>${hasCount ? html`<th scope="col" class="n">Repeats</th>` : null}
<th scope="col">Verdict</th></tr></thead>
<tbody>${comparisons.map(
    (one) => html`
<tr><td class="text">${one.case}</td><td>${metricName(one.metric)}</td><td>${one.over} <small>over</small> ${one.under}</td>
<td class="n"><b>${ratioFigure(one.ratio.median)}</b></td><td class="n">${range(one.ratio)}</td><td>${drawn(one, scale)}</td>
${hasCount ? html`<td class="n">${one.repeats}</td>` : null}<td class="text ${toneOf(one)}">${verdictText(one)}</td></tr>`,
  )}</tbody></table></div>`
  const isLong = comparisons.length > ROWS_OPEN_MAX
  return html`<h3>Ratios</h3>${isLong ? html`<details><summary>All ${comparisons.length} ratios</summary>${table}</details>` : table}`
}

/** Rows beyond which the table is folded: the summary already contains their results. */
const ROWS_OPEN_MAX = 60

export const SIGNS: Readonly<Record<Verdict, string>> = { ahead: '▲', behind: '▼', alike: '=', unsure: '?' }

/** The verdict in words: for the product which side is ahead; for others the direction. */
function verdictText(one: Comparison): string {
  if (one.verdict === 'unsure') return `? ${one.doubt ?? 'cannot be told'}`
  if (one.verdict === 'alike') return '= no clear difference'
  if (one.kind === 'peer') return `${SIGNS[one.verdict]} ${one.over} ${one.verdict}`
  const isMore = one.verdict === 'ahead' ? !IS_LESS_BETTER[one.metric] : IS_LESS_BETTER[one.metric]
  return isMore ? 'more' : 'less'
}

export function toneOf({ kind, verdict }: Comparison): string {
  if (kind !== 'peer' || verdict === 'alike' || verdict === 'unsure') return 'even'
  return verdict === 'ahead' ? 'good' : 'bad'
}

interface Scale {
  readonly low: number
  readonly high: number
}

const WIDTH = 168
const HEIGHT = 16
const MARGIN = 5

/**
 * As wide as the widest interval, the same on both sides of 1, and never so narrow that noise looks large.
 */
function scaleOf(comparisons: readonly Comparison[]): Scale {
  const distances = comparisons
    .flatMap(({ ratio }) => [ratio.median, ratio.low, ratio.high])
    .filter((value) => isTaken(value) && value > 0)
    .map((value) => Math.abs(Math.log(value)))
  const reach = Math.exp(Math.max(Math.log(1.5), ...distances))
  return { low: 1 / reach, high: reach }
}

function scaleText({ low, high }: Scale): Markup {
  return html`<span class="scale"><span>${ratioFigure(low)}</span><span>1</span><span>${ratioFigure(high)}</span></span>`
}

function drawn(one: Comparison, { low, high }: Scale): Markup {
  const place = (value: number): string => {
    const share = (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))
    return (MARGIN + share * (WIDTH - 2 * MARGIN)).toFixed(1)
  }
  const { ratio } = one
  const middle = HEIGHT / 2
  const hasInterval = isTaken(ratio.low) && isTaken(ratio.high) && ratio.low > 0
  return html`<svg class="interval ${toneOf(one)}" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
<title>${ratioFigure(ratio.median)} (${range(ratio)})</title>
<line class="one" x1="${place(1)}" x2="${place(1)}" y1="0" y2="${HEIGHT}"/>
${hasInterval ? html`<line class="bounds" x1="${place(ratio.low)}" x2="${place(ratio.high)}" y1="${middle}" y2="${middle}"/>` : null}
<circle cx="${place(ratio.median)}" cy="${middle}" r="3.5"/></svg>`
}
