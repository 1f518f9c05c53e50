/** The section of one scenario: its question, its subjects, and all results. */
import { checkResult, type CheckRecord, type ScenarioRecord } from '../record.ts'
import { barFigures } from './bars.ts'
import type { Comparison } from './comparisons.ts'
import { curveFigure } from './curves.ts'
import { distributionFigures } from './distributions.ts'
import { counted, duration, NOT_TAKEN, plain, spreadText } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { ratioTable } from './ratio-table.ts'
import { rowTable } from './row-table.ts'
import { rungTable } from './rung-table.ts'

/** An id for a scenario. Names come from files: only characters that are safe in an address are kept. */
export function sectionId(scenario: string): string {
  return `scenario-${scenario.replace(/[^a-z0-9-]/gi, '-')}`
}

/** @param at index of the scenario in the file, by which the script finds its curves */
export function scenarioSection(
  scenario: ScenarioRecord,
  comparisons: readonly Comparison[],
  at: number,
): Markup {
  const id = sectionId(scenario.scenario)
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${scenario.scenario}</h2>
<p class="lead">${scenario.question}</p>
<p class="settings">${settingsLine(scenario)}</p>
${definitions(
  'Subjects',
  scenario.subjects.map(({ name, note }) => ({ name, text: note })),
)}
${definitions(
  'Not here',
  scenario.absent.map(({ name, reason }) => ({ name, text: reason })),
)}
${scenario.checks.length === 0 ? null : html`<h3>Checks</h3>${checkTable(scenario.checks, { isWithScenario: false })}`}
${barFigures(scenario)}
${distributionFigures(scenario)}
${curveFigures(scenario, at)}
${rungTable(scenario)}
${ratioTable(scenario.scenario, comparisons)}
${rowTable(scenario)}
${scenario.notes.length === 0 ? null : html`<h3>Notes</h3><ul>${scenario.notes.map((note) => html`<li>${note}</li>`)}</ul>`}
</section>`
}

function curveFigures({ curves }: ScenarioRecord, scenarioAt: number): Markup | null {
  if (curves.length === 0) return null
  const names = curves.flatMap(({ lines }) => lines.map(({ name }) => name))
  return html`<h3>Curves</h3>${PLOT_HINT}<div class="curves">${curves.map((curve, curveAt) => curveFigure(curve, { scenarioAt, curveAt, names }))}</div>`
}

const PLOT_HINT = html`<p class="hint keys">Point at a plot to read its values, or go to it with the Tab key and use the arrow keys.
Drag to look closer, click twice to see all again; a name below the plot puts its line away.</p>`

function settingsLine({ settings, took_seconds }: ScenarioRecord): string {
  const words = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return [...words, `took ${duration(took_seconds)}`].join(' · ')
}

function definitions(
  title: string,
  list: readonly { readonly name: string; readonly text: string }[],
): Markup | null {
  if (list.length === 0) return null
  return html`<h3>${title}</h3><dl class="subjects">${list.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`
}

export function checkTable(
  checks: readonly CheckRecord[],
  { isWithScenario }: { readonly isWithScenario: boolean },
): Markup {
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Checks"><table class="checks">
<thead><tr>${isWithScenario ? html`<th scope="col">Scenario</th>` : null}<th scope="col">Figure</th><th scope="col" class="n">Found</th>
<th scope="col" class="n">Asked for</th><th scope="col">Result</th></tr></thead>
<tbody>${checks.map(
    (
      one,
    ) => html`<tr>${isWithScenario ? html`<td><a href="#${sectionId(one.scenario)}">${one.scenario}</a></td>` : null}
<td class="text">${one.text}</td><td class="n">${spreadText(one.found)}</td><td class="n">${boundText(one)}</td><td>${resultOf(one)}</td></tr>`,
  )}</tbody>
</table></div>`
}

export function boundText({ at_least, at_most }: CheckRecord): string {
  return at_least === null
    ? `at most ${at_most === null ? NOT_TAKEN : plain(at_most)}`
    : `at least ${plain(at_least)}`
}

function resultOf(check: CheckRecord): Markup {
  const result = checkResult(check)
  if (result === 'not judged') return html`<span class="even">? not judged, taken once</span>`
  const why = check.failed > 0 ? `, ${counted(check.failed, 'request')} failed` : ''
  return result === 'met'
    ? html`<span class="good">✓ met</span>`
    : html`<span class="bad">✗ missed${why}</span>`
}
