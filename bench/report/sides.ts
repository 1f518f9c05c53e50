/** What the product lost and what it won, the clearest first. */
import { checkResult, type CheckRecord, type ResultsFile } from '../record.ts'
import { PRODUCT_NAME, type Comparison, type Verdict } from './comparisons.ts'
import { counted, listed, spreadText } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { boundText, sectionId } from './scenario.ts'
import { sentences } from './sentences.ts'

/** Lines of a kind beyond which the rest is folded. */
const LINES_OPEN_MAX = 5

export function sidesSection(results: ResultsFile, comparisons: readonly Comparison[]): Markup | null {
  const peers = comparisons.filter(({ kind }) => kind === 'peer')
  const checks = results.scenarios.flatMap((one) => one.checks)
  if (peers.length === 0 && checks.length === 0) return null
  const missed = checks
    .filter((one) => checkResult(one) === 'missed')
    .toSorted((a, b) => beyond(b) - beyond(a))
    .map(missedLine)
  const isJudged = peers.some(({ verdict }) => verdict !== 'unsure')
  const none = isJudged || peers.length === 0 ? 'Nothing.' : 'Nothing that is judged.'
  const hasLost = peers.length + missed.length > 0
  const lost = { title: `What ${PRODUCT_NAME} lost`, kinds: [missed, comparedLines(peers, 'behind')], none }
  const won = { title: `What ${PRODUCT_NAME} won`, kinds: [comparedLines(peers, 'ahead')], none }
  return html`<section id="sides" aria-labelledby="sides-title">
<h2 id="sides-title">Lost and won</h2>
<p class="lead">${countLine(results, peers)} ${checksLine(checks)}</p>
<div class="sides">${hasLost ? side(lost) : null}${peers.length === 0 ? null : side(won)}</div>
</section>`
}

interface Side {
  readonly title: string
  /** Lines of each kind, the clearest first. */
  readonly kinds: readonly (readonly Markup[])[]
  /** What stands in the place of no line. */
  readonly none: string
}

function side({ title, kinds, none }: Side): Markup {
  const list = (lines: readonly Markup[]): Markup => html`<ul class="sentences">${lines}</ul>`
  const open = kinds.flatMap((lines) => lines.slice(0, LINES_OPEN_MAX))
  const rest = kinds.flatMap((lines) => lines.slice(LINES_OPEN_MAX))
  return html`<div><h3>${title}</h3>${open.length === 0 ? html`<p>${none}</p>` : list(open)}
${rest.length === 0 ? null : html`<details><summary>${rest.length} more</summary>${list(rest)}</details>`}</div>`
}

/** How many times its bound a figure is; what has no bound above zero, and what nobody took, leads. */
function beyond({ found, at_most, at_least }: CheckRecord): number {
  const times = at_least === null ? found.median / (at_most ?? 0) : at_least / found.median
  return Number.isFinite(times) ? times : Number.MAX_VALUE
}

/** The clearest of each kind of figure first, so that one kind does not hide the others. */
function comparedLines(peers: readonly Comparison[], verdict: Verdict): readonly Markup[] {
  const strength = ({ ratio }: Comparison): number => Math.abs(Math.log(ratio.median))
  const found = peers.filter((one) => one.verdict === verdict).toSorted((a, b) => strength(b) - strength(a))
  const reported = sentences(found, peers)
  const rankOf = (at: number): number =>
    reported.slice(0, at).filter(({ metric }) => metric === reported[at]?.metric).length
  return reported
    .map((one, at) => ({ ...one, rank: rankOf(at) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(
      ({ scenario, text, detail }) => html`
<li><a href="#${sectionId(scenario)}">${scenario}</a>: <b>${text}</b> <span class="detail">(${detail})</span></li>`,
    )
}

function missedLine(check: CheckRecord): Markup {
  const failed = check.failed === 0 ? null : `; ${counted(check.failed, 'request')} failed`
  return html`
<li><a href="#${sectionId(check.scenario)}">${check.scenario}</a>: <b>${check.text}: ${spreadText(check.found)}</b>
<span class="detail">(<span class="bad">✗ missed</span>, ${boundText(check)} was asked for${failed})</span></li>`
}

function countLine({ scenarios }: ResultsFile, peers: readonly Comparison[]): string {
  if (peers.length === 0) return ''
  const names = [...new Set(peers.map(({ under }) => under))]
  const count = (verdict: Verdict): number => peers.filter((one) => one.verdict === verdict).length
  const unsure = count('unsure') === 0 ? '' : `, ${count('unsure')} not judged`
  return (
    `${PRODUCT_NAME} was compared with ${listed(names)} in ${counted(peers.length, 'figure')} of ${counted(scenarios.length, 'scenario')}: ` +
    `behind in ${count('behind')}, ahead in ${count('ahead')}, no clear difference in ${count('alike')}${unsure}.`
  )
}

function checksLine(checks: readonly CheckRecord[]): string {
  if (checks.length === 0) return 'No figure was asked for that has to be reached.'
  const parts = (['missed', 'met', 'not judged'] as const).flatMap((result) => {
    const count = checks.filter((one) => checkResult(one) === result).length
    return count === 0 ? [] : [`${count} ${result}`]
  })
  return `${counted(checks.length, 'figure')} had to be reached: ${parts.join(', ')}.`
}
