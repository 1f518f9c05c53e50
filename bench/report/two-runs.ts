/** Two runs side by side: the figures of each row that both have, and the change with its interval. */
import { isSameRow, rowsOf, type ResultRow, type ResultsFile, type SampleRecord } from '../record.ts'
import { changeOf, spread } from '../statistics.ts'
import { counted, figure, isTaken, range, ratioFigure } from './figures.ts'
import { FURTHER_FIGURES } from './further-figures.ts'
import { html, type Markup } from './markup.ts'

interface Compared {
  readonly title: string
  read(one: SampleRecord): number | null | undefined
}

const COMPARED: readonly Compared[] = [
  { title: 'CPU µs/request', read: (one) => one.cpu_us_per_request },
  { title: 'CPU s/GB', read: (one) => one.cpu_s_per_gb },
  { title: 'requests/s', read: (one) => one.requests_per_second },
  { title: 'MB/s', read: (one) => one.mb_per_second },
  { title: 'p50 µs', read: (one) => one.latency_us?.p50 },
  { title: 'p99 µs', read: (one) => one.latency_us?.p99 },
  { title: 'memory MB', read: (one) => one.rss_mb },
  ...FURTHER_FIGURES.map(({ name, title }) => ({
    title,
    read: (one: SampleRecord) => one.figures?.[name],
  })),
]

/** Repeats of both runs below which a change has no interval. */
const REPEATS_MIN = 3

/** @param other run, whose figures are shown after those of `results` */
export function twoRunsSection(results: ResultsFile, other: ResultsFile): Markup {
  const pairs = rowsOf(results).flatMap((row) => {
    const twin = rowsOf(other).find((one) => isSameRow(one, row))
    return twin === undefined ? [] : [{ row, twin }]
  })
  return html`<section id="two-runs" aria-labelledby="two-runs-title">
<h2 id="two-runs-title">Two runs</h2>
${pairs.length === 0 ? html`<p class="lead">The two runs have no row in common.</p>` : comparedTable(pairs, { results, other })}
</section>`
}

interface Pair {
  readonly row: ResultRow
  readonly twin: ResultRow
}

function comparedTable(
  pairs: readonly Pair[],
  { results, other }: { readonly results: ResultsFile; readonly other: ResultsFile },
): Markup {
  const timeOf = ({ at }: ResultsFile): string => at.slice(0, 16).replace('T', ' ')
  const [here, there] = [timeOf(results), timeOf(other)]
  const isSameMachine =
    results.machine.cpu === other.machine.cpu && results.machine.cores === other.machine.cores
  return html`<p class="lead">${counted(pairs.length, 'row')} in both runs.</p>
<p class="hint">Change: the figure of ${here} over that of ${there}, with the 95 % bootstrap interval of its medians.
Fewer than ${REPEATS_MIN} repeats have no interval.
${isSameMachine ? null : 'The runs used different kinds of machines.'}</p>
<div class="scroll" role="region" tabindex="0" aria-label="Two runs"><table class="rows">
<thead><tr><th scope="col">Case</th><th scope="col">Subject</th><th scope="col">Figure</th><th scope="col" class="n">${here}</th>
<th scope="col" class="n">${there}</th><th scope="col" class="n">Change</th><th scope="col" class="n">Interval</th></tr></thead>
<tbody>${pairs.flatMap(({ row, twin }) => COMPARED.flatMap((one) => lineOf(one, row, twin)))}</tbody></table></div>`
}

function lineOf({ title, read }: Compared, row: ResultRow, twin: ResultRow): readonly Markup[] {
  const [now, then] = [row, twin].map(({ samples }) => samples.map((one) => read(one)).filter(isTaken))
  if (now === undefined || then === undefined || now.length === 0 || then.length === 0) return []
  const change = changeOf(now, then)
  const hasInterval = Math.min(now.length, then.length) >= REPEATS_MIN && isTaken(change.low)
  return [
    html`
<tr><td class="text">${row.case}</td><th scope="row">${row.subject}</th><td>${title}</td>
<td class="n">${figure(spread(now).median)}</td>
<td class="n">${figure(spread(then).median)}</td><td class="n">${ratioFigure(change.median)}</td><td class="n">${hasInterval ? range(change) : '–'}</td></tr>`,
  ]
}
