/** First bytes of a text in which Markdown is recognized. Decision. */
export const MARKDOWN_HEAD_BYTES = 16_384

/** The words after three backticks must contain no further backtick: that would be code within a line. */
const FENCE = /^ {0,3}`{3,}[^`\n]*$/m
/**
 * `[text](target)` or `[text](target "title")` on one line; text and target are not empty. After an identifier or a
 * closing bracket, a bracket is an index in code. No part may contain the character that begins it: otherwise the time
 * for a text of many such characters would grow with the square of its length.
 */
const LINK =
  /(?<![\w)\]\\])\[(?:[^[\]|\\\n]|\\.)+\]\([ \t]*(?:<[^<>\n]*>|(?:[^ \t\n()<]|\([^ \t\n()<]*\))+)(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*\)/
/** The row under a table's head: cells of dashes with an optional colon on either side. */
const DASHES = /\n[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?(?=\n|$)/g
/**
 * `# Title` between empty lines: comments of scripts and settings are directly next to the lines that they
 * describe.
 */
const HEADING = /(?:^|\n[ \t]*\n|^[ \t]*\n) {0,3}#{1,6}[ \t]+[^\s#][^\n]*(?:\n[ \t]*(?:\n|$)|$)/
const TILDES = /(?:^|\n[ \t]*\n) {0,3}~~~/
const TASK = /^ {0,3}[-+*][ \t]+\[[ xX]\][ \t]/m
/** A line with a row of `=` or `-` under it, between empty lines. */
const UNDERLINED = /(?:^|\n[ \t]*\n)[^\s=~.\-][^\n]*\n(?:={3,}|-{3,})[ \t]*(?:\n[ \t]*\n|\n?$)/
const ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]+[^\s-]/gm
const BOLD = /(?:^|\s)(?:\*\*[^*\s][^*\n]*\*\*|__[^_\s][^_\n]*__)/m
const CODE = /(?:^|[^`\w])`[^`'\n]+`(?![`_])/m
/** Signs of reStructuredText and AsciiDoc, which underline titles too. */
const OTHER_MARKUP = /^\[[^\]\n]+\]$|^:[\w-]+:|::[ \t]*$|\blink(?:git)?:|^\.\. |``[^`\n]+``|:\w+:`/m

const ITEMS_MIN = 2

/**
 * Whether a text has a sure sign of Markdown, which is a fence, a table, a link, a task or a heading between
 * empty lines; or underlined titles or bold words together with lists, bold words or code. Lists alone occur in
 * any text.
 * @param head the text's first bytes, one character for each byte
 */
export function isMarkdown(head: string): boolean {
  const text = head.replace(/\r\n?/g, '\n')
  if ([FENCE, LINK, HEADING, TILDES, TASK].some((sign) => sign.test(text)) || hasTable(text)) return true
  const isUnderlined = UNDERLINED.test(text)
  const isBold = BOLD.test(text)
  if ((!isUnderlined && !isBold) || OTHER_MARKUP.test(text)) return false
  const hasItems = (text.match(ITEM)?.length ?? 0) >= ITEMS_MIN
  return (isUnderlined && isBold) || hasItems || CODE.test(text)
}

/** A table's head has as many cells as the row of dashes under it. */
function hasTable(text: string): boolean {
  for (const { 0: row, index } of text.matchAll(DASHES)) {
    const cells = cellsOf(row.slice(1))
    if (cells > 0 && cells === cellsOf(text.slice(text.lastIndexOf('\n', index - 1) + 1, index))) return true
  }
  return false
}

/** 0 for a line without a pipe. */
function cellsOf(line: string): number {
  const text = line.replace(/\\[|\\[]/g, '')
  const pipes = text.split('|').length - 1
  return pipes === 0 ? 0 : pipes + 1 - Number(/^ {0,3}\|/.test(text)) - Number(/\|[ \t]*$/.test(text))
}
