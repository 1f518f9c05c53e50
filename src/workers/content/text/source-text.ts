/** Bytes at the beginning of a text in which markup and scripts are recognized. Decision. */
export const SOURCE_HEAD_BYTES = 4_096
/** Bytes at the end of a text in which markup and scripts are recognized. Decision. */
export const SOURCE_TAIL_BYTES = 256

/**
 * Kinds of text that override the structure. `document` is HTML, SVG or XML, and `script` a program: neither a comma
 * nor a `# comment` makes them CSV or Markdown. `fragment` begins with a tag: it may be Markdown, but not CSV.
 * `docstring` begins like a Python module: it may be CSV, but not Markdown.
 */
export type SourceKind = 'document' | 'script' | 'fragment' | 'docstring'

/** @param head the text's first bytes without a byte order mark, one character for each byte @param tail the text's last bytes */
export function sourceKind(head: string, tail: string): SourceKind | null {
  if (head.startsWith('#!')) return 'script'
  const markup = withoutMarkupComments(head)
  if (/^<(?:[a-z]|[!?/])/i.test(markup)) return isDocument(markup, tail) ? 'document' : 'fragment'
  return scriptKind(head)
}

const ROOTS = /^<(?:\?xml|\?php|!doctype|!entity|html|head|body|svg|script|style|rss|feed|urlset|project)\b/i
/** Tags with which Markdown files begin and end. */
const IN_MARKDOWN = /^(?:p|div|center|img|a|br|picture|details|h[1-6]|table)$/

/** Whether the text begins like a document, or with a tag that is closed at the very end. */
function isDocument(markup: string, tail: string): boolean {
  if (ROOTS.test(markup)) return true
  const name = /^<([a-z][\w:.-]*)/i.exec(markup)?.[1]?.toLowerCase()
  if (name === undefined || IN_MARKDOWN.test(name)) return false
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

/** Comments of the languages below, up to the first other line. */
const COMMENTS = /^(?:\s+|(?:#|--)[^\n]*(?:\n|$))/
/** Characters of a line that are examined: this limits the time of an expression. */
const LINE_CHARS_MAX = 500

/** First statements of common languages. Prose must not match: each expression requires a part that prose does not have. */
const STATEMENTS: readonly RegExp[] = [
  /^(?:\/[*/]|[ru]?''')/,
  /^(['"])use strict\1;?\s*$/,
  /^import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+)*\s*;?\s*$/,
  /^import\s+(?:static\s|[\w*{].*\sfrom\s+['"]|\{\s*$|['"(])/,
  /^from\s+[\w.]+\s+import\s+[\w*(]/,
  /^export\s+(?:(?:default|const|function|class|async|type|interface)\s|\{|\*|\w+=)/,
  /^(?:export\s+)?(?:async\s+)?(?:def|function|func|fn|sub)\s+\w+\s*[({]/,
  /^[!;(+~]*\s*function\s*\w*\(/,
  /^(?:const|let|var|local|my|our)\s+[\w{[$@%].*=/,
  /^(?:(?:public|abstract|final|export)\s+)*(?:class|interface|enum|struct|namespace)\s+\w+.*[{:]\s*$/,
  /^(?:package\s+[\w.:]+;?|using\s+[\w.\s]+;|use\s+[\w:\\]+;)\s*$/,
  /^(?:require|include)(?:_once)?\s*\(?\s*['"]/,
  /^#(?:include|define|pragma|ifndef|ifdef)\s/,
  /^(?:try|(?:if|for|while|with|elif)\s.+):\s*$/,
  /^(?:print|console\.log|printf|puts|module\.exports)\s*[(=]/,
  /^(?:echo\s+["'$]|set\s+-[a-z]|@echo\s+off\b)/i,
  /^(?:if\s+\[|require\s+[\d.]+;|[\w.$]+\(["'`])/,
  /^[$@%]?[A-Za-z_][\w.$:{}'"[\]>-]*\s=\s(?:['"[{(]|\w+[.(])/,
  /^[A-Za-z_]\w*=(?:"[^,;"]*"|'[^,;']*'|\$.*|[^\s,;"']*)\s*$/,
  /^(?:SELECT\s|INSERT\s+INTO\s|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|INDEX|FUNCTION|DATABASE)\s)/,
  /(?:[\w)\]>"'*+] ?\{|\);|\};|=.*;)\s*$/,
]

/** Examines the first line that is not a comment; `#include` is a statement although it begins like a comment. */
function scriptKind(head: string): 'script' | 'docstring' | null {
  let text = head.trimStart()
  for (;;) {
    const line = /^[^\r\n]*/.exec(text)?.[0].slice(0, LINE_CHARS_MAX) ?? ''
    if (/^[ru]?"""/i.test(line)) return 'docstring'
    if (STATEMENTS.some((statement) => statement.test(line))) return 'script'
    const comment = COMMENTS.exec(text)
    if (comment === null) return null
    text = text.slice(comment[0].length)
  }
}
