/** What each part costs: the difference of each subject over the one that lacks the part. */
import { stepsOf, type Step } from '../ladder/findings.ts'
import { FURTHER_FIGURES } from './further-figures.ts'
import type { ResultRow, ScenarioRecord } from '../record.ts'
import { pairedDifference } from '../statistics.ts'
import { figure, isTaken, NOT_TAKEN } from './figures.ts'
import { html, type Markup } from './markup.ts'

/** Null for a scenario without rungs. */
export function rungTable({ scenario, rows, subjects }: ScenarioRecord): Markup | null {
  const steps = stepsOf(rows, subjects)
  if (steps.length === 0) return null
  const hasCases = new Set(steps.map((step) => step.case)).size > 1
  const names = [...(hasCases ? ['Case'] : []), 'Subject', 'Over']
  const caseOf = (step: Step): Markup | null => (hasCases ? html`<td>${step.case}</td>` : null)
  const columns = FURTHER_FIGURES.filter(({ name }) =>
    rows.some(({ figures }) => figures?.[name] !== undefined),
  )
  return html`<h3>What each part costs</h3>
<p class="hint">Microseconds of CPU of a request, more (+) or less (−) than the subject below: median of the differences inside each repeat,
and where it lies with 95 % confidence. The other columns are differences of the same kind.</p>
<div class="scroll" role="region" tabindex="0" aria-label="Parts of ${scenario}"><table class="rows">
<thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}<th scope="col" class="n">CPU µs</th><th scope="col" class="n">Interval</th>${columns.map(
    ({ title }) => html`<th scope="col" class="n">${title}</th>`,
  )}</tr></thead>
<tbody>${steps.map(
    (step) => html`
<tr>${caseOf(step)}<th scope="row">${step.subject}</th><td>${step.below}</td><td class="n"><b>${signed(step.cpuUs.median)}</b></td>
<td class="n">${signed(step.cpuUs.low)} to ${signed(step.cpuUs.high)}</td>${columns.map(
      ({ name }) => html`<td class="n">${signed(differenceOf(name, step, rows))}</td>`,
    )}</tr>`,
  )}</tbody></table></div>`
}

function differenceOf(name: string, step: Step, rows: readonly ResultRow[]): number {
  const of = (wanted: string): readonly number[] =>
    (rows.find((row) => row.subject === wanted && row.case === step.case)?.samples ?? []).map(
      ({ figures }) => figures?.[name] ?? Number.NaN,
    )
  return pairedDifference(of(step.subject), of(step.below)).median
}

function signed(value: number): string {
  if (!isTaken(value)) return NOT_TAKEN
  return value < 0 ? `−${figure(-value)}` : `+${figure(value)}`
}
