const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

/**
 * Looks for tables in a whole text, line by line with regular expressions: independent of the product's
 * tables. It ignores links and back-ticks.
 */
export function hasMarkdownLines(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/)
  return lines.some(
    (line, nth) => DASHES.test(line) && cells(line) > 0 && cells(line) === cells(lines[nth - 1] ?? ''),
  )
}

function cells(line: string): number {
  const pipes = line.split('|').length - 1
  if (pipes === 0) return 0
  return pipes + 1 - (/^ {0,3}\|/.test(line) ? 1 : 0) - (/\|[ \t]*$/.test(line) ? 1 : 0)
}
