/** CPU of a request and rate, by case and subject. The values stand beside the bars for exact reading. */
import type { ResultRow, ScenarioRecord } from '../record.ts'
import type { Spread } from '../statistics.ts'
import { isOurs, isProduct } from './comparisons.ts'
import { isTaken, spreadText } from './figures.ts'
import { html, type Markup } from './markup.ts'

interface BarFigure {
  readonly title: string
  readonly rows: readonly { readonly row: ResultRow; readonly of: Spread }[]
}

/** Bars beyond which the figure is folded: the table below has the same values in less space. */
const ROWS_OPEN_MAX = 40

export function barFigures({ rows }: ScenarioRecord): Markup | null {
  const figures = [cpuFigure(rows), rateFigure(rows)].filter((one) => one.rows.length > 0)
  if (figures.length === 0) return null
  const hint = rows.some((row) => row.is_generator_limit)
    ? html`<p class="hint">* The generator was the limit in at least one repeat.</p>`
    : null
  const drawn = html`<div class="bar-figures">${figures.map(barFigure)}</div>${hint}`
  return rows.length <= ROWS_OPEN_MAX
    ? drawn
    : html`<details><summary>Bars of ${rows.length} rows</summary>${drawn}</details>`
}

function cpuFigure(rows: readonly ResultRow[]): BarFigure {
  return isOfBytes(rows)
    ? { title: 'CPU seconds per GB, less is better', rows: withFigure(rows, (row) => row.cpu_s_per_gb) }
    : {
        title: 'CPU microseconds per request, less is better',
        rows: withFigure(rows, (row) => row.cpu_us_per_request),
      }
}

/** True when all rows have bytes. In a mix only requests are common to all rows. */
function isOfBytes(rows: readonly ResultRow[]): boolean {
  return rows.length > 0 && rows.every((row) => row.cpu_s_per_gb !== null)
}

/** The figure of rates; under a fixed rate all subjects serve the same. */
function rateFigure(all: readonly ResultRow[]): BarFigure {
  const rows = all.filter(({ pace }) => pace === 'closed')
  return isOfBytes(rows)
    ? { title: 'MB per second, more is better', rows: withFigure(rows, (row) => row.mb_per_second) }
    : {
        title: 'Requests per second, more is better',
        rows: withFigure(rows, (row) => row.requests_per_second),
      }
}

function withFigure(rows: readonly ResultRow[], read: (row: ResultRow) => Spread | null): BarFigure['rows'] {
  return rows.flatMap((row) => {
    const of = read(row)
    return of !== null && isTaken(of.median) ? [{ row, of }] : []
  })
}

function barFigure({ title, rows }: BarFigure): Markup {
  const cases = [...new Set(rows.map(({ row }) => row.case))]
  return html`<figure class="bars"><figcaption>${title}</figcaption>${cases.map((name) => {
    const own = rows.filter(({ row }) => row.case === name)
    // The scale of one case: a scale over all cases would make the bars of cheap cases too short.
    const most = Math.max(...own.map(({ of }) => of.max))
    return html`<div class="case"><h4>${name}</h4><ul>${own.map(({ row, of }) => bar(row, of, most))}</ul></div>`
  })}</figure>`
}

function bar({ subject, is_generator_limit }: ResultRow, of: Spread, most: number): Markup {
  const share = (value: number): string =>
    `${(most > 0 ? Math.min(100, (100 * value) / most) : 0).toFixed(2)}%`
  const tone = isProduct(subject) ? 'ours' : isOurs(subject) ? 'kin' : 'peer'
  const text = `${spreadText(of)}${is_generator_limit ? ' *' : ''}`
  return html`
<li title="${subject}: ${text}"><span class="name">${subject}</span><span class="track" aria-hidden="true">
<span class="fill ${tone}" style="width:${share(of.median)}"></span>
<span class="whisker" style="left:${share(of.min)};right:calc(100% - ${share(of.max)})"></span></span>
<span class="value">${text}</span></li>`
}
