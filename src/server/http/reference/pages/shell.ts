import { DOCS_PATH, ERRORS_PATH, GUIDES_PATH } from '../../../../schemas/api-prefix.ts'
import { escaped } from './html.ts'

/** A page of the documentation, without the parts common to all pages. */
export interface PageParts {
  readonly title: string
  /** HTML with one `h1`. */
  readonly body: string
  /** The list of pages next to the body, as HTML; empty: no list. */
  readonly all?: string
  /** Paths of scripts, in addition to the script of every page. */
  readonly scripts?: readonly string[]
}

/** Applies the theme, copies blocks and searches; pages can be read without it. */
const SCRIPT = `${GUIDES_PATH}.js`
/** The logo of Sluice, inline, since pages of documentation load no pictures; the dashboard has it as a file. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#00687f"/>' +
  '<g fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"><path d="M6 5v8M18 5v8"/>' +
  '<path d="M5 17.5c2.3-2.4 4.7-2.4 7 0s4.7 2.4 7 0"/></g><path fill="#fff" d="M8.5 6h7v6h-7z"/></svg>'
const ICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`

/** The HTML of a page: it loads only files of Sluice, and contains no inline scripts or styles. */
export function shellOf({ title, body, all = '', scripts = [] }: PageParts): string {
  const loaded = [SCRIPT, ...scripts]
    .map((path) => {
      // Blocks rendering, so that the page is first drawn in the chosen theme.
      const blocking = path === SCRIPT ? ' blocking="render"' : ''
      return `<script type="module"${blocking} src="${path}"></script>\n`
    })
    .join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Sluice</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${GUIDES_PATH}.css">
${loaded}</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><nav aria-label="Documentation">
<a class="home" href="${GUIDES_PATH}/"><img src="${ICON}" width="20" height="20" alt=""> Guides</a>
<a href="${DOCS_PATH}">API reference</a> <a href="${ERRORS_PATH}">Error types</a>
</nav></header>
<div class="frame">
<main id="content" tabindex="-1">
${body}</main>
${all === '' ? '' : `<nav class="all" aria-label="Pages">\n${all}\n</nav>\n`}${contentsOf(body)}</div>
</body>
</html>
`
}

/** Number of headings from which a page has a list of them. */
const LISTED_MIN = 3
const HEADING = /<h2 id="([^"]*)">([^]*?)(?: <a class="anchor"[^]*?)?<\/h2>/g

/** The headings of a page, as a list next to its text. */
function contentsOf(body: string): string {
  const items = [...body.matchAll(HEADING)].map(
    ([, id = '', text = '']) => `<li><a href="#${id}">${text.replace(/<[^>]*>/g, '')}</a></li>`,
  )
  if (items.length < LISTED_MIN) return ''
  return `<nav class="contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>\n`
}

/** Links to the previous and the next page. @param before null on the first page */
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
