/**
 * `# Title` between empty lines: comments of scripts and settings are directly beside the lines that they
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
/** Signs of reStructuredText and AsciiDoc, whose titles are underlined as well. */
const OTHER_MARKUP = /^\[[^\]\n]+\]$|^:[\w-]+:|::[ \t]*$|\blink(?:git)?:|^\.\. |``[^`\n]+``|:\w+:`/m

const ITEMS_MIN = 2

/**
 * Whether a text has signs of Markdown that distinguish it from plain text only by convention: a heading
 * between empty lines, a fence of tildes after an empty line, tasks, or underlined titles or bold words
 * together with lists, bold words or code. Lists alone occur in any text. C26.
 * @param head the text's first bytes, one character for each byte
 */
export function hasMarkdownSigns(head: string): boolean {
  const text = head.replace(/\r\n?/g, '\n')
  if (HEADING.test(text) || TILDES.test(text) || TASK.test(text)) return true
  const isUnderlined = UNDERLINED.test(text)
  const isBold = BOLD.test(text)
  if ((!isUnderlined && !isBold) || OTHER_MARKUP.test(text)) return false
  const hasItems = (text.match(ITEM)?.length ?? 0) >= ITEMS_MIN
  return (isUnderlined && isBold) || hasItems || CODE.test(text)
}
