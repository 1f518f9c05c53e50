import { STATUS_CODES } from 'node:http'
import { ERRORS_PATH, GUIDES_PATH } from '../../../schemas/api-prefix.ts'
import { FAILURES, REASONS, type FailureName, type FailureRow } from '../../../schemas/failures.ts'
import { remedyOf } from '../../../schemas/remedies.ts'
import { inline } from './pages/html.ts'
import { shellOf } from './pages/shell.ts'

const NAMES = Object.keys(FAILURES) as FailureName[]
/** Never reaches the wire. */
const NEVER_SENT: FailureName = 'client_gone'

/**
 * Path and HTML of a page for each error type, and of their list, made from the catalogue of failures. C39.
 */
export function errorPages(): readonly (readonly [path: string, html: string])[] {
  const shown = NAMES.filter((name) => name !== NEVER_SENT)
  const list = shown.map(
    (name) =>
      `<li><a href="${ERRORS_PATH}/${name}"><code>${name}</code></a>: ${withPlaces(FAILURES[name].text)}</li>`,
  )
  const all = shellOf({
    title: 'Error types',
    body:
      '<h1>Error types</h1>\n<p>Each error answer has one of these as <code>error.metadata.error_type</code>. ' +
      `<a href="${GUIDES_PATH}/errors">Errors</a> says how a program handles them.</p>\n<ul>\n${list.join('\n')}\n</ul>\n`,
  })
  return [
    [ERRORS_PATH, all],
    ...shown.map((name) => [`${ERRORS_PATH}/${name}`, pageOf(name, FAILURES[name])] as const),
  ]
}

const RETRY: Readonly<Record<FailureRow['retry'], string>> = {
  no: 'No: the same call cannot succeed.',
  after_change: 'After a change: the same call would be refused again.',
  backoff: 'Yes, after a while and each time later; where there is a <code>Retry-After</code>, as that says.',
}

function pageOf(name: FailureName, row: FailureRow): string {
  const statuses = row.status.map((status) =>
    `${status} ${STATUS_CODES[status] ?? REASONS[status] ?? ''}`.trim(),
  )
  const rows = [
    [
      'Status',
      `${statuses.join(', or ')}${statuses.length > 1 ? '; which of them the operation decides' : ''}`,
    ],
    [
      'Cause',
      row.fault === 'caller'
        ? 'Something in the call, in its key or in what the organization has set.'
        : 'Something at this node or behind it.',
    ],
    ['Remedy', withPlaces(remedyOf(name, row))],
    ['Retry', RETRY[row.retry]],
  ]
  const table = rows
    .map(([title, text]) => `<tr><th scope="row">${title}</th><td>${text}</td></tr>`)
    .join('\n')
  return shellOf({
    title: name,
    body: `<h1><code>${name}</code></h1>\n<p>${withPlaces(row.text)}</p>\n<div class="table" tabindex="0">\n<table>\n${table}\n</table>\n</div>\n`,
  })
}

/** Sluice's own texts, in which a `{place}` is filled in each answer. */
function withPlaces(text: string): string {
  return inline(text).replace(/\{(\w+)\}/g, '<var>$1</var>')
}
