/** The top of the page: the one result, what a call costs and how long it takes beside the peers. */
import type { ResultsFile, ScenarioRecord } from '../record.ts'
import { PRODUCT_NAME, type Comparison } from './comparisons.ts'
import { costOf, type Cost } from './cost.ts'
import { costFigure, costSentence } from './cost-figure.ts'
import { distributionFigure, groupsOf } from './distributions.ts'
import { counted } from './figures.ts'
import { curvesOfResult, loadFigure } from './load-figure.ts'
import { html, type Markup } from './markup.ts'
import { placesOf } from './places.ts'
import { sectionId } from './scenario.ts'
import { legend } from './svg/plot.ts'

export function resultSection(results: ResultsFile, comparisons: readonly Comparison[]): Markup {
  const cost = costOf(results, comparisons)
  const curves = curvesOfResult(results)
  const latency =
    curves.length > 0 ? curves.map(loadFigure) : [cost === null ? null : latencyBeside(results, cost)]
  return html`<section id="result" aria-labelledby="result-title">
<h2 id="result-title">The result</h2>
<p class="lead">${cost === null ? withoutCost(results, comparisons) : costSentence(cost)}</p>
${brokenLines(results)}
<div class="result">${cost === null ? null : costFigure(cost)}${latency}</div>
</section>`
}

/** Without loads: how long the calls of the case took whose cost is shown. */
function latencyBeside({ scenarios }: ResultsFile, cost: Cost): Markup | null {
  const subjects = new Set([cost.ours.subject, ...cost.others.map(({ row }) => row.subject)])
  const isShown = (one: ScenarioRecord['rows'][number]): boolean =>
    one.case === cost.case && subjects.has(one.subject)
  const scenario = scenarios.find((one) => one.scenario === cost.scenario)
  const [group] = scenario === undefined ? [] : groupsOf({ ...scenario, rows: scenario.rows.filter(isShown) })
  if (group === undefined) return null
  const names = group.curves.map(({ name }) => name)
  const places = placesOf(names)
  const figure = distributionFigure({ ...group, title: `Latency, ${group.title}` }, places)
  return html`<div>${figure}${legend(names.map((name) => ({ name, place: places.get(name) ?? 0 })))}</div>`
}

/** Scenarios that a reader would expect and that left nothing. */
function brokenLines({ scenarios }: ResultsFile): readonly Markup[] {
  return scenarios
    .filter(({ rows, curves }) => rows.length === 0 && curves.length === 0)
    .map(
      ({ scenario, notes: [why] }) => html`
<p class="bad"><a href="#${sectionId(scenario)}">${scenario}</a> left no figures${why === undefined ? null : `: ${why}`}</p>`,
    )
}

function withoutCost({ scenarios }: ResultsFile, comparisons: readonly Comparison[]): string {
  const headlines = scenarios.flatMap(({ headline }) => headline ?? [])
  if (headlines.length > 0) return headlines.join(' ')
  if (scenarios.length === 0) return 'No scenario was run: there is nothing to compare.'
  if (comparisons.some(({ kind }) => kind === 'peer'))
    return `What a call costs was not compared with another product in ${counted(scenarios.length, 'scenario')}; other figures were.`
  return `No other product ran beside ${PRODUCT_NAME} in ${counted(scenarios.length, 'scenario')}, so that this page cannot tell who is ahead.`
}
