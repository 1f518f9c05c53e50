import { DOCS_PATH, ERRORS_PATH, GUIDES_PATH } from '../../../../schemas/api-prefix.ts'
import { escaped } from './html.ts'

/** A page of the documentation, without what all of them have. */
export interface PageParts {
  readonly title: string
  /** HTML with one `h1`. */
  readonly body: string
  /** The pages beside it, as HTML; empty: none are listed. */
  readonly all?: string
  /** Scripts beside the one of every page, by their paths. */
  readonly scripts?: readonly string[]
}

/** Copies blocks and searches; nothing needs it for reading. */
const SCRIPT = `${GUIDES_PATH}.js`

/** The HTML of a page: it loads files of Sluice alone, and has no script and no style in its text. */
export function shellOf({ title, body, all = '', scripts = [] }: PageParts): string {
  const loaded = [SCRIPT, ...scripts]
    .map((path) => `<script type="module" src="${path}"></script>\n`)
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Sluice</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${GUIDES_PATH}.css">
${loaded}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><nav aria-label="Documentation">
<a class="home" href="${GUIDES_PATH}/">Guides</a> <a href="${DOCS_PATH}">API reference</a> <a href="${ERRORS_PATH}">Error types</a>
</nav></header>
<div class="frame">
<main id="content" tabindex="-1">
${body}</main>
${all === '' ? '' : `<nav class="all" aria-label="Pages">\n${all}\n</nav>\n`}${contentsOf(body)}</div>
</body>
</html>
`
}

/** Headings of a page from which a list of them helps. */
const LISTED_MIN = 3
const HEADING = /<h2 id="([^"]*)">([^]*?)(?: <a class="anchor"[^]*?)?<\/h2>/g

/** The headings of a page, as a list beside its text. */
function contentsOf(body: string): string {
  const items = [...body.matchAll(HEADING)].map(
    ([, id = '', text = '']) => `<li><a href="#${id}">${text.replace(/<[^>]*>/g, '')}</a></li>`,
  )
  if (items.length < LISTED_MIN) return ''
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>\n`
}

/** The way to the pages before and after this one. @param before null on the first page */
export function turnsOf(before: Neighbour | null, after: Neighbour | null): string {
  const turn = ({ path, title }: Neighbour, rel: string, text: string): string =>
    `<a rel="${rel}" href="${path}">${escaped(text.replace('*', () => title))}</a>`
  const back = before === null ? '<span></span>' : turn(before, 'prev', '← *')
  return `<nav class="turns" aria-label="Neighbours">${back}${after === null ? '' : turn(after, 'next', '* →')}</nav>\n`
}

export interface Neighbour {
  readonly path: string
  readonly title: string
}
