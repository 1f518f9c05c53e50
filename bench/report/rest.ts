/** What is left of the results besides the lost and the won, in short; and how sure all of it is. */
import { checkResult, type ResultsFile } from '../record.ts'
import { facts, trust } from './certainty.ts'
import { PRODUCT_NAME, type Comparison, type Verdict } from './comparisons.ts'
import { listed } from './figures.ts'
import { latenciesAtLoad } from './loads.ts'
import { html, type Markup } from './markup.ts'
import { checkTable, sectionId } from './scenario.ts'
import { sentences } from './sentences.ts'

export function restSection(results: ResultsFile, comparisons: readonly Comparison[]): Markup {
  const peers = comparisons.filter(({ kind }) => kind === 'peer')
  return html`<section id="rest" aria-labelledby="rest-title">
<h2 id="rest-title">Other results</h2>
${missing(results)}
${peers.length === 0 ? null : peerTable(peers)}
${verdictList('No clear difference', pick(peers, 'alike'), peers)}
${verdictList('Not judged', pick(peers, 'unsure'), peers)}
${unjudgedChecks(results)}
${verdictList(
  `${PRODUCT_NAME} against itself, and against no gateway at all`,
  comparisons.filter(({ kind }) => kind === 'own'),
  comparisons,
)}
${verdictList(
  'Others, and variants of Sluice that nobody runs, against each other',
  comparisons.filter(({ kind }) => kind === 'other'),
  comparisons,
)}
${loadList(results)}
<h3>How sure this is</h3>
${trust(results, comparisons)}
<h3>The run</h3>
${facts(results)}
</section>`
}

function unjudgedChecks({ scenarios }: ResultsFile): Markup | null {
  const found = scenarios.flatMap(({ checks }) => checks.filter((one) => checkResult(one) === 'not judged'))
  if (found.length === 0) return null
  return html`<h3>Checks that were not judged</h3>
<p class="hint">One repeat shows no spread: chance can put it on either side of its bound. <code>--repeats 2</code> and more judge them.</p>
${checkTable(found, { isWithScenario: true })}`
}

function pick(all: readonly Comparison[], verdict: Verdict): readonly Comparison[] {
  return all.filter((one) => one.verdict === verdict)
}

/** Subjects that a reader would expect and that could not run. */
function missing({ scenarios }: ResultsFile): Markup | null {
  const absent = new Map<string, readonly string[]>()
  for (const one of scenarios)
    for (const { name } of one.absent) absent.set(name, [...(absent.get(name) ?? []), one.scenario])
  if (absent.size === 0) return null
  const names = [...absent].map(([name, of]) => `${name} (${of.join(', ')})`)
  return html`<p>Not there, and so not compared: ${listed(names)}. Their scenarios say how they are added.</p>`
}

const VERDICTS: readonly (readonly [Verdict, string])[] = [
  ['behind', `${PRODUCT_NAME} behind`],
  ['ahead', `${PRODUCT_NAME} ahead`],
  ['alike', 'no clear difference'],
  ['unsure', 'not judged'],
]

function peerTable(peers: readonly Comparison[]): Markup {
  const names = [...new Set(peers.map(({ under }) => under))]
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Figures by peer"><table>
<caption>Figures compared, by peer</caption>
<thead><tr><th scope="col">Against</th>${VERDICTS.map(([, text]) => html`<th scope="col" class="n">${text}</th>`)}</tr></thead>
<tbody>${names.map((name) => {
    const own = peers.filter(({ under }) => under === name)
    return html`<tr><th scope="row">${name}</th>${VERDICTS.map(([verdict]) => html`<td class="n">${pick(own, verdict).length}</td>`)}</tr>`
  })}</tbody></table></div>`
}

/** @param of comparisons that count the cases of a sentence */
function verdictList(title: string, found: readonly Comparison[], of: readonly Comparison[]): Markup | null {
  if (found.length === 0) return null
  return html`<h3>${title}</h3><ul class="sentences">${sentences(found, of).map(
    ({ scenario, text, detail }) => html`
<li><a href="#${sectionId(scenario)}">${scenario}</a>: <b>${text}</b> <span class="detail">(${detail})</span></li>`,
  )}</ul>`
}

function loadList({ scenarios }: ResultsFile): Markup | null {
  const found = scenarios.flatMap(({ scenario, curves }) =>
    curves.flatMap(latenciesAtLoad).map((one) => ({ ...one, scenario })),
  )
  if (found.length === 0) return null
  return html`<h3>Latency at the same load</h3>
<p class="hint">At the highest load that both were offered, read from the plots between two points: medians, without an interval.</p>
<ul class="sentences">${found.map(
    ({ scenario, text, detail }) => html`
<li><a href="#${sectionId(scenario)}">${scenario}</a>: <b>${text}</b> <span class="detail">(${detail})</span></li>`,
  )}</ul>`
}
