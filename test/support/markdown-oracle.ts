const HEADING = /^ {0,3}#{1,6}[ \t]+[^ \t]/
const FENCE = /^ {0,3}~~~/
const ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])[ \t]+(?![ \t-])(?!\*(?:[ \t]|$))./
const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

/**
 * Looks for headings, fences of tildes, lists and tables in a whole text, line by line with regular
 * expressions: independent of the product's tables. Links and back-ticks are none of its business.
 */
export function hasMarkdownLines(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/)
  if (lines.some((line) => HEADING.test(line) || FENCE.test(line))) return true
  if (lines.filter((line) => ITEM.test(line)).length >= 2) return true
  return lines.some(
    (line, nth) => DASHES.test(line) && cells(line) > 0 && cells(line) === cells(lines[nth - 1] ?? ''),
  )
}

function cells(line: string): number {
  const pipes = line.split('|').length - 1
  if (pipes === 0) return 0
  return pipes + 1 - (/^ {0,3}\|/.test(line) ? 1 : 0) - (/\|[ \t]*$/.test(line) ? 1 : 0)
}
