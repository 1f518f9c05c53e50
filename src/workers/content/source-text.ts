/** Bytes at the beginning and at the end of a text by which markup and scripts are told. Decision. */
export const SOURCE_HEAD_BYTES = 4_096
export const SOURCE_TAIL_BYTES = 256

/**
 * Texts that are plain whatever else their structure looks like: `document` is HTML, SVG or XML and `script`
 * a program, which neither a comma nor a `# comment` makes CSV or Markdown. `fragment` begins with a tag,
 * which no CSV does, but Markdown may. Contract C26 names them without a rule; the rule is ours.
 * @param head the text's first bytes without a byte order mark, one character a byte
 */
export function sourceKind(head: string, tail: string): 'document' | 'script' | 'fragment' | null {
  if (head.startsWith('#!')) return 'script'
  const markup = withoutMarkupComments(head)
  if (/^<(?:[a-z]|[!?/])/i.test(markup)) return isDocument(markup, tail) ? 'document' : 'fragment'
  return isScript(head) ? 'script' : null
}

const ROOTS = /^<(?:\?xml|\?php|!doctype|!entity|html|head|body|svg|script|style|rss|feed|urlset|project)\b/i
/** Tags that Markdown files begin with and end with. */
const IN_MARKDOWN = new Set([
  'p',
  'div',
  'center',
  'img',
  'a',
  'br',
  'picture',
  'details',
  'h1',
  'h2',
  'h3',
  'table',
])

/** It begins as a document does, or with a tag that is closed by the very end. */
function isDocument(markup: string, tail: string): boolean {
  if (ROOTS.test(markup)) return true
  const name = /^<([a-z][\w:.-]*)/i.exec(markup)?.[1]?.toLowerCase()
  if (name === undefined || IN_MARKDOWN.has(name)) return false
  return tail.trimEnd().toLowerCase().endsWith(`</${name}>`)
}

function withoutMarkupComments(head: string): string {
  let text = head.trimStart()
  while (text.startsWith('<!--')) {
    const end = text.indexOf('-->')
    if (end < 0) return ''
    text = text.slice(end + 3).trimStart()
  }
  return text
}

/** Comments of the languages below, up to the first line that says something. */
const COMMENTS = /^(?:\s+|(?:#|\/\/|--)[^\n]*(?:\n|$)|\/\*[^]*?\*\/)/

/**
 * First statements of common languages, line by line. Prose must not match: each asks for what prose lacks
 * there.
 */
const STATEMENTS: readonly RegExp[] = [
  /^(['"])use strict\1;?\s*$/,
  /^import\s+(?:[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+)*\s*;?\s*$|static\s|[\w*{].*\sfrom\s+['"]|['"(])/,
  /^from\s+[\w.]+\s+import\s+[\w*(]/,
  /^export\s+(?:default\s|const\s|function\s|class\s|async\s|\{|\*|\w+=)/,
  /^(?:export\s+)?(?:async\s+)?(?:def|function|func|fn|sub)\s+\w+\s*[({]/,
  /^(?:const|let|var|local)\s+[\w{[].*=/,
  /^(?:(?:public|abstract|final|export)\s+)*(?:class|interface|enum|struct|namespace)\s+\w+.*[{:]\s*$/,
  /^(?:package\s+[\w.]+;?|using\s+[\w.\s]+;|use\s+[\w:\\]+;|(?:require|include)(?:_once)?\s*\(?\s*['"].*)\s*$/,
  /^#(?:include|define|pragma|ifndef|ifdef)\s/,
  /^(?:if|for|while)\s*[([].*(?:[{:]|then|do)\s*$/,
  /^(?:print|console\.log|printf|puts|module\.exports)\s*[(=]/,
  /^(?:echo\s+["'$]|set\s+-[a-z]|@echo\s+off\b|\w+=\$[({])/i,
  /^(?:SELECT\s|INSERT\s+INTO\s|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|INDEX|FUNCTION|DATABASE)\s)/,
  /^@(?:media|charset|font-face)\s.*[{;]/,
]

/** `#include` is a statement although it begins as a comment does. */
function isScript(head: string): boolean {
  let text = head
  for (;;) {
    const line = /^[^\r\n]*/.exec(text)?.[0] ?? ''
    if (STATEMENTS.some((statement) => statement.test(line))) return true
    const comment = COMMENTS.exec(text)
    if (comment === null || comment[0] === '') return false
    text = text.slice(comment[0].length)
  }
}
