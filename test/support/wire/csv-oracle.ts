/**
 * Reads a whole text under RFC 4180, field by field with a regular expression: slow, plain, and independent
 * of the product's table. Line ends are CR LF or LF.
 * @returns the fields of each record, or null when the text is not CSV
 */
export function fieldCounts(text: string, delimiter: string): readonly number[] | null {
  const field = new RegExp(`"(?:[^"]|"")*"|[^"\\r\\n${delimiter}]*`, 'y')
  const counts = [0]
  for (let at = 0; ;) {
    field.lastIndex = at
    const length = field.exec(text)?.[0].length ?? 0
    counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1
    at += length
    if (at === text.length) return counts
    if (text[at] === delimiter) at++
    else {
      const lineEnd = /\r?\n/y
      lineEnd.lastIndex = at
      const found = lineEnd.exec(text)
      if (found === null) return null
      at += found[0].length
      counts.push(0)
    }
  }
}
