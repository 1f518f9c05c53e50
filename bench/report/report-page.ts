/**
 * Results as one self-contained page: no server, no network, no other file. A reader with only this page can
 * judge the run.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { checkResult, type ResultsFile } from '../record.ts'
import { comparisonsOf } from './comparisons.ts'
import { counted } from './figures.ts'
import { html, Markup, scriptJson } from './markup.ts'
import { restSection } from './rest.ts'
import { resultSection } from './result.ts'
import { scenarioSection, sectionId } from './scenario.ts'
import { sidesSection } from './sides.ts'
import { twoRunsSection } from './two-runs.ts'
import { ROOT } from '../text.ts'

/**
 * @param other run to show beside it; null: none
 * @returns HTML with the results inside, for the plots and for further computation
 */
export function renderReport(results: ResultsFile, other: ResultsFile | null = null): string {
  const comparisons = comparisonsOf(results)
  const { plots, script, styles } = assets()
  const { machine } = results
  const day = results.at.slice(0, 10)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy([plots, script])}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Sluice bench, ${day}</title>
<style>${new Markup(styles)}</style>
</head>
<body>
<a class="skip" href="#result">To the result</a>
<header>
<h1>Sluice bench <small>${day}</small></h1>
<p class="hint">${machine.cores} × ${machine.cpu} · <code>${results.command}</code>
· <a id="download" href="#data" download="results.json">Download results.json</a></p>
</header>
<main>
${resultSection(results, comparisons)}
${other === null ? null : twoRunsSection(results, other)}
${sidesSection(results, comparisons)}
${contents(results)}
${restSection(results, comparisons)}
${results.scenarios.map((scenario, at) =>
  scenarioSection(
    scenario,
    comparisons.filter((one) => one.scenario === scenario.scenario),
    at,
  ),
)}
</main>
<script type="application/json" id="data">${scriptJson(results)}</script>
<script>${new Markup(plots)}</script>
<script>${new Markup(script)}</script>
</body>
</html>
`.text
}

function contents({ scenarios }: ResultsFile): Markup | null {
  if (scenarios.length === 0) return null
  return html`<nav aria-label="Scenarios"><ul><li><a href="#rest">In short</a></li>${scenarios.map(
    ({ scenario, rows, checks }) => {
      const missed = checks.filter((one) => checkResult(one) === 'missed').length
      const note = missed === 0 ? null : html` <span class="bad">✗ ${counted(missed, 'check')} missed</span>`
      return html`<li><a href="#${sectionId(scenario)}">${scenario}</a> <small>${counted(rows.length, 'row')}</small>${note}</li>`
    },
  )}</ul></nav>`
}

interface Assets {
  readonly plots: string
  readonly script: string
  readonly styles: string
}

function assets(): Assets {
  const { resolve } = createRequire(import.meta.url)
  const uplot = (file: string): string => readFileSync(resolve(`uplot/dist/${file}`), 'utf8')
  const own = (file: string): string => readFileSync(`${ROOT}bench/report/${file}`, 'utf8')
  return {
    plots: uplot('uPlot.iife.min.js'),
    script: own('page.js'),
    styles: `${uplot('uPlot.min.css')}\n${own('page.css')}`,
  }
}

/** A policy by which the browser itself blocks network requests and foreign scripts. */
function policy(scripts: readonly string[]): string {
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  return `default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src ${hashes.join(' ')}; base-uri 'none'; form-action 'none'`
}
