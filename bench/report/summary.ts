/** The top of the page: the winners, the losses of the product, the machine, and the certainty. */
import type { Machine } from '../machine.ts'
import type { CheckRecord, ResultsFile } from '../record.ts'
import type { Comparison, Verdict } from './comparisons.ts'
import { PRODUCT_NAME } from './comparisons.ts'
import { counted, duration, figure, isTaken } from './figures.ts'
import { latenciesAtLoad } from './loads.ts'
import { html, type Markup } from './markup.ts'
import { checkTable, sectionId } from './scenario.ts'
import { sentences } from './sentences.ts'

export function summary(results: ResultsFile, comparisons: readonly Comparison[]): Markup {
  const peers = comparisons.filter(({ kind }) => kind === 'peer')
  const missed = results.scenarios.flatMap(({ checks }) => checks).filter((one) => !one.is_met)
  return html`<section id="summary" aria-labelledby="summary-title">
<h2 id="summary-title">In short</h2>
<p class="lead">${headline(results, peers)}</p>
<p>${checksLine(results)}</p>
${missing(results)}
${missed.length === 0 ? null : html`<h3>Checks that were missed</h3>${checkTable(missed, { isWithScenario: true })}`}
${peers.length === 0 ? null : peerTable(peers)}
${verdictList(`Where ${PRODUCT_NAME} lost`, pick(peers, 'behind'), peers)}
${verdictList(`Where ${PRODUCT_NAME} won`, pick(peers, 'ahead'), peers)}
${verdictList('No clear difference', pick(peers, 'alike'), peers)}
${verdictList('Not to be told from these figures', pick(peers, 'unsure'), peers)}
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
</section>`
}

function pick(all: readonly Comparison[], verdict: Verdict): readonly Comparison[] {
  return all.filter((one) => one.verdict === verdict)
}

function headline({ scenarios }: ResultsFile, peers: readonly Comparison[]): string {
  if (scenarios.length === 0) return 'No scenario was run: there is nothing to compare.'
  if (peers.length === 0)
    return `No other product ran beside ${PRODUCT_NAME} in ${counted(scenarios.length, 'scenario')}, so that this page cannot tell who is ahead.`
  const names = [...new Set(peers.map(({ under }) => under))]
  const count = (verdict: Verdict): number => pick(peers, verdict).length
  const unsure = count('unsure') === 0 ? '' : `; ${count('unsure')} cannot be told`
  return (
    `${PRODUCT_NAME} was compared with ${list(names)} in ${counted(peers.length, 'figure')} of ${counted(scenarios.length, 'scenario')}: ` +
    `behind in ${count('behind')}, ahead in ${count('ahead')}, no clear difference in ${count('alike')}${unsure}.`
  )
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`
}

function checksLine({ scenarios }: ResultsFile): string {
  const checks: readonly CheckRecord[] = scenarios.flatMap((one) => one.checks)
  if (checks.length === 0) return 'No figure was asked for that has to be reached.'
  const missed = checks.filter((one) => !one.is_met).length
  const found = missed === 0 ? 'and every one was' : `and ${missed} ${missed === 1 ? 'was' : 'were'} not`
  return `${counted(checks.length, 'figure')} had to be reached, ${found}.`
}

/** Parts that a reader would expect and that are missing. */
function missing({ scenarios }: ResultsFile): Markup | null {
  const broken = scenarios.filter(({ rows, curves }) => rows.length === 0 && curves.length === 0)
  const absent = new Map<string, readonly string[]>()
  for (const one of scenarios)
    for (const { name } of one.absent) absent.set(name, [...(absent.get(name) ?? []), one.scenario])
  const names = [...absent].map(([name, of]) => `${name} (${of.join(', ')})`)
  if (broken.length === 0 && names.length === 0) return null
  const lines = broken.map(
    ({ scenario, notes: [why] }) => html`
<p class="bad"><a href="#${sectionId(scenario)}">${scenario}</a> left no figures${why === undefined ? null : `: ${why}`}</p>`,
  )
  if (names.length === 0) return html`${lines}`
  return html`${lines}<p>Not there, and so not compared: ${list(names)}. Their scenarios say how they are added.</p>`
}

const VERDICTS: readonly (readonly [Verdict, string])[] = [
  ['behind', `${PRODUCT_NAME} behind`],
  ['ahead', `${PRODUCT_NAME} ahead`],
  ['alike', 'no clear difference'],
  ['unsure', 'cannot be told'],
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

function trust(results: ResultsFile, comparisons: readonly Comparison[]): Markup {
  const repeats = comparisons.flatMap((one) => one.repeats ?? [])
  return html`<ul>${[...repeatLines(repeats), ...machineLines(results.machine)].map((text) => html`<li>${text}</li>`)}</ul>`
}

/** Repeats from which the least and most contain the true median with 95 %. */
const REPEATS_FOR_95 = 6

function repeatLines(repeats: readonly number[]): readonly string[] {
  const lines = [
    'Subjects take turns on one machine, and a ratio is taken inside each turn: what slowed the machine down slowed both sides.',
    'An interval is where the median of those ratios lies with 95 % confidence (percentile bootstrap). ' +
      '“No clear difference” is an interval that holds 1, or lies within 2 % of it.',
  ]
  if (repeats.length === 0) return lines
  const [least, most] = [Math.min(...repeats), Math.max(...repeats)]
  const count = least === most ? counted(least, 'time') : `${least} to ${most} times`
  const fewest = Math.min(...repeats.filter((count) => count > 1))
  const few =
    `Of ${fewest} repeats the least and the most have the true median between them in ${figure(100 - 100 / 2 ** (fewest - 1))} % of all runs, ` +
    'and no interval of theirs can promise more: what is near 1 wants more repeats.'
  return [...lines, `What is compared was measured ${count}.`, ...(fewest < REPEATS_FOR_95 ? [few] : [])]
}

/** Load per core above which other programs affect the figures. */
const LOAD_QUIET_PER_CORE = 0.25
/** Stolen CPU time above which other virtual machines affect the figures. */
const STOLEN_QUIET_PER_MILLE = 10

function machineLines({ loadBefore, cores, stolenPerMille }: Machine): readonly string[] {
  const load = `Load of the machine in the minute before: ${loadBefore} on ${counted(cores, 'core')}`
  const isQuiet = loadBefore <= cores * LOAD_QUIET_PER_CORE
  const stolen =
    isTaken(stolenPerMille) && stolenPerMille > STOLEN_QUIET_PER_MILLE
      ? [
          `The host took ${stolenPerMille / 10} % of the CPU time of this virtual machine since its boot: latencies and rates suffer from it.`,
        ]
      : []
  return [
    isQuiet
      ? `${load}: quiet.`
      : `${load}: it was busy with something else. Trust ratios more than rates, and rates more than latencies.`,
    ...stolen,
  ]
}

export function facts({ at, command, machine, versions, took_seconds }: ResultsFile): Markup {
  const rows: readonly (readonly [string, Markup | string])[] = [
    ['Command', html`<code>${command}</code>`],
    ['Started', `${at.slice(0, 16).replace('T', ' ')} UTC, took ${duration(took_seconds)}`],
    ['Machine', `${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB`],
    ['System', `Linux ${machine.kernel}, glibc ${machine.glibc}, Node ${machine.node}`],
    [
      'Load before',
      `${machine.loadBefore}${isTaken(machine.stolenPerMille) ? `; the host took ${machine.stolenPerMille / 10} % since boot` : ''}`,
    ],
    ['Versions', list(Object.entries(versions).map(([name, version]) => `${name} ${version}`))],
  ]
  return html`<dl class="facts">${rows.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`
}
