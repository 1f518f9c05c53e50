/** What a call costs, told and drawn. */
import type { ResultRow } from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Comparison } from './comparisons.ts'
import { unitOf, wordsOf, type Cost } from './cost.ts'
import { figure, range, ratioFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { SIGNS, toneOf } from './ratio-table.ts'
import { logScale, type Scale } from './svg/scale.ts'

/** The result in a sentence: what it costs, and how many times as much as each peer, the dearest first. */
export function costSentence(cost: Cost): Markup {
  const { head, times, detail } = wordsOf(cost)
  const each = times.map(
    ({ comparison, ratio, peer }, at) =>
      html`${at === 0 ? null : ', '}<b class="${toneOf(comparison)}">${ratio} ×</b> ${peer}`,
  )
  return html`${head.before} <b>${head.figure}</b> ${head.after}: ${each}
<span class="detail">(${detail})</span>`
}

export function costFigure(cost: Cost): Markup {
  const { metric, ours, others } = cost
  const { what, unit } = unitOf(cost)
  const all = [{ row: ours, comparison: null }, ...others].toSorted(
    (a, b) => (a.row[metric]?.median ?? 0) - (b.row[metric]?.median ?? 0),
  )
  const scale = logScale(
    all.flatMap(({ row }) => [row[metric]?.median ?? NaN, row[metric]?.min ?? NaN, row[metric]?.max ?? NaN]),
  )
  const own = scale.at(ours[metric]?.median ?? NaN)
  return html`<figure class="cost"><figcaption>CPU of ${what}, ${unit} <small>logarithmic, less is better</small></figcaption>
<ul><li class="head"><span></span><span class="value">${unit}</span><span class="times">Sluice over it</span></li>
${all.map(({ row, comparison }) => costRow({ row, comparison, of: row[metric] }, scale, own))}
<li class="head" aria-hidden="true"><svg class="track" height="18">${scale.ticks.map(
    ({ at, text }) => html`<text x="${percent(at)}" y="13" text-anchor="middle">${text}</text>`,
  )}</svg></li></ul></figure>`
}

interface CostRow {
  readonly row: ResultRow
  readonly comparison: Comparison | null
  readonly of: Spread | null
}

/** @param own place of the product, which a line marks in every row */
function costRow({ row, comparison, of }: CostRow, scale: Scale, own: number): Markup {
  const place = (value: number | undefined): string => percent(scale.at(value ?? NaN))
  const times =
    comparison === null
      ? null
      : html`<span class="times ${toneOf(comparison)}" title="${range(comparison.ratio)}">
${SIGNS[comparison.verdict]} ${ratioFigure(comparison.ratio.median)} ×</span>`
  const whisker =
    of !== null && of.min > 0
      ? html`<line class="whisker" x1="${place(of.min)}" x2="${place(of.max)}" y1="8" y2="8"/>`
      : null
  return html`
<li${comparison === null ? html` class="ours"` : null}><span class="name">${row.subject}</span>
<svg class="track" height="16" aria-hidden="true"><line class="own" x1="${percent(own)}" x2="${percent(own)}" y1="-4" y2="20"/>
<line class="rail" x1="0" x2="100%" y1="8" y2="8"/>${whisker}<circle cx="${place(of?.median)}" cy="8" r="4.5"/></svg>
<span class="value">${figure(of?.median ?? null)}</span>${times}</li>`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`
}
