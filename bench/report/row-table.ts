/**
 * Every row of a scenario with every figure; also the values of the bars, for readers who do not see them.
 */
import { FURTHER_FIGURES } from './further-figures.ts'
import type { LatencyRecord, ResultRow, ScenarioRecord } from '../record.ts'
import { bytes, counted, plain, scaled, spreadMarkup } from './figures.ts'
import { html, type Markup } from './markup.ts'

interface Column {
  readonly title: string
  readonly of: (row: ResultRow) => Markup | null
}

export function rowTable({ scenario, rows }: ScenarioRecord): Markup {
  if (rows.length === 0) return html`<h3>Rows</h3><p>No row was taken.</p>`
  const columns = COLUMNS.filter(({ of }) => rows.some((row) => of(row) !== null))
  return html`<h3>Rows</h3>
<p class="hint">Median of the repeats, least–most beside it. CPU is that of all processes of the subject, by the operating system’s accounts.
Open pace: a fixed rate, latency counted from when a request was due. Closed pace: who has an answer asks again.${limitHint(rows)}</p>
<div class="scroll" role="region" tabindex="0" aria-label="Rows of ${scenario}"><table class="rows">
<thead><tr><th scope="col">Case</th><th scope="col">Subject</th>${columns.map(({ title }) => html`<th scope="col" class="n">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row, at) => html`
<tr${rows[at - 1]?.case === row.case ? null : html` class="first"`}><td class="text">${row.case}</td><th scope="row">${row.subject}</th>${columns.map(
      ({ of }) => html`<td class="n">${of(row) ?? '–'}</td>`,
    )}</tr>`,
  )}</tbody></table></div>
${failureList(rows)}`
}

function limitHint(rows: readonly ResultRow[]): string {
  return rows.some((row) => row.is_generator_limit)
    ? ' * The generator was the limit in at least one repeat: the subject can do more; its CPU of a request still holds.'
    : ''
}

const latency = (title: string, name: keyof LatencyRecord<number>): Column => ({
  title,
  of: (row) => (row.latency_us === null ? null : spreadMarkup(scaled(row.latency_us[name], 1e-3))),
})

const LIMIT_MARK = html`<abbr title="generator-limited">*</abbr>`

const COLUMNS: readonly Column[] = [
  {
    title: 'Pace',
    of: ({ pace, offered_per_second }) =>
      html`${pace}${offered_per_second === null ? null : ` ${plain(offered_per_second)}/s`}`,
  },
  { title: 'Connections', of: ({ connections }) => html`${plain(connections)}` },
  {
    title: 'Payload',
    of: ({ payload_bytes }) => (payload_bytes === null ? null : html`${bytes(payload_bytes)}`),
  },
  { title: 'CPU µs/request', of: (row) => spreadMarkup(row.cpu_us_per_request) },
  { title: 'CPU s/GB', of: (row) => (row.cpu_s_per_gb === null ? null : spreadMarkup(row.cpu_s_per_gb)) },
  {
    title: 'Requests/s',
    of: (row) => html`${spreadMarkup(row.requests_per_second)}${row.is_generator_limit ? LIMIT_MARK : null}`,
  },
  { title: 'MB/s', of: (row) => (row.mb_per_second === null ? null : spreadMarkup(row.mb_per_second)) },
  latency('p50 ms', 'p50'),
  latency('p90 ms', 'p90'),
  latency('p99 ms', 'p99'),
  latency('p99.9 ms', 'p99_9'),
  latency('Max ms', 'max'),
  { title: 'Memory MB', of: (row) => (row.rss_mb === null ? null : spreadMarkup(row.rss_mb)) },
  ...FURTHER_FIGURES.map(({ name, title }): Column => ({
    title,
    of: ({ figures }) => (figures?.[name] === undefined ? null : spreadMarkup(figures[name])),
  })),
  { title: 'Generator cores', of: (row) => spreadMarkup(row.generator_cores) },
  {
    title: 'Failed',
    of: ({ failed }) => (failed === 0 ? html`0` : html`<span class="bad">${plain(failed)}</span>`),
  },
]

function failureList(rows: readonly ResultRow[]): Markup | null {
  const failing = rows.filter((row) => row.failed > 0 || row.failures.length > 0)
  if (failing.length === 0) return null
  return html`<h4>What failed</h4><ul>${failing.map(
    (row) =>
      html`<li>${row.case}, ${row.subject}: ${counted(row.failed, 'request')}${row.failures.length === 0 ? null : `: ${row.failures.join('; ')}`}</li>`,
  )}</ul>`
}
