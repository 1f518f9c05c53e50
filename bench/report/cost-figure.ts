/** What a call costs at Sluice and beside it, drawn: the one result of a page. */
import type { ResultRow, ResultsFile } from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Comparison } from './comparisons.ts'
import { counted, figure, isTaken, range, ratioFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { SIGNS, toneOf } from './ratio-table.ts'
import { logScale, type Scale } from './svg/scale.ts'

type CostMetric = 'cpu_us_per_request' | 'cpu_s_per_gb'

export interface Cost {
  readonly scenario: string
  readonly case: string
  readonly metric: CostMetric
  readonly ours: ResultRow
  /** Beside it, the cheapest first. */
  readonly others: readonly { readonly row: ResultRow; readonly comparison: Comparison }[]
}

/** Scenarios whose cost tells most of the product; the others follow in the order of the file. */
const FIRST = ['embeddings', 'chat']

/**
 * The case with most peers of the scenario that tells most; of two the one with more connections. Null: no
 * cost was compared with that of a peer.
 */
export function costOf({ scenarios }: ResultsFile, comparisons: readonly Comparison[]): Cost | null {
  const names = scenarios.map(({ scenario }) => scenario)
  for (const name of [...FIRST.filter((one) => names.includes(one)), ...names]) {
    const rows = scenarios.find(({ scenario }) => scenario === name)?.rows ?? []
    const found = rows.flatMap((ours) => costAt(ours, rows, comparisons) ?? [])
    const [best] = found.toSorted(
      (a, b) => b.others.length - a.others.length || b.ours.connections - a.ours.connections,
    )
    if (best !== undefined) return best
  }
  return null
}

function costAt(
  ours: ResultRow,
  rows: readonly ResultRow[],
  comparisons: readonly Comparison[],
): Cost | null {
  const metric = ours.cpu_s_per_gb === null ? 'cpu_us_per_request' : 'cpu_s_per_gb'
  const isOfCost = (one: Comparison): boolean =>
    one.kind === 'peer' &&
    one.metric === metric &&
    one.scenario === ours.scenario &&
    one.case === ours.case &&
    one.over === ours.subject
  const others = comparisons.filter(isOfCost).flatMap((comparison) => {
    const row = rows.find((one) => one.case === ours.case && one.subject === comparison.under)
    return row === undefined || !isDrawn(row[metric]) ? [] : [{ row, comparison }]
  })
  if (others.length === 0 || !isDrawn(ours[metric])) return null
  return { scenario: ours.scenario, case: ours.case, metric, ours, others: cheapestFirst(others, metric) }
}

function cheapestFirst(others: Cost['others'], metric: CostMetric): Cost['others'] {
  return others.toSorted((a, b) => (a.row[metric]?.median ?? 0) - (b.row[metric]?.median ?? 0))
}

function isDrawn(of: Spread | null): boolean {
  return of !== null && isTaken(of.median) && of.median > 0
}

interface Unit {
  /** What is paid for. */
  readonly what: string
  readonly unit: string
}

/** Rows of streams count events in the place of calls. */
function unitOf({ metric, case: name }: Cost): Unit {
  if (metric === 'cpu_s_per_gb') return { what: 'a GB', unit: 's' }
  return { what: /\bstreams?\b/i.test(name) ? 'an event of a stream' : 'a call', unit: 'µs' }
}

/** The result in a sentence: what it costs, and how many times as much as each peer. */
export function costSentence(cost: Cost): Markup {
  const { metric, ours, others, case: name, scenario } = cost
  const { what, unit } = unitOf(cost)
  const times = others
    .toReversed()
    .map(
      ({ comparison }, at) =>
        html`${at === 0 ? null : ', '}<b class="${toneOf(comparison)}">${ratioFigure(comparison.ratio.median)} ×</b> ${comparison.under}`,
    )
  const repeats = ours.samples.length
  const taken = repeats < 2 ? 'taken once, and so not judged' : `median of ${counted(repeats, 'repeat')}`
  return html`${what} costs <b>${figure(ours[metric]?.median ?? null)} ${unit}</b> of CPU at ${ours.subject}: ${times}
<span class="detail">(${scenario}, ${name}; ${taken})</span>`
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
