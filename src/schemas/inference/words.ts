/** Words of all texts. */
export function wordsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countOf(text), 0)
}

/**
 * Words by their beginnings: an expression that matches each word of 256 KiB would hold the loop for 13 ms.
 */
function countOf(text: string): number {
  let count = 0
  let isBetween = true
  for (let at = 0; at < text.length; at++) {
    const isSpace = isSpaceAt(text, at)
    if (isBetween && !isSpace) count++
    isBetween = isSpace
  }
  return count
}

/** The last character of ASCII that is a space. */
const SPACE = 0x20
const LAST_ASCII = 0x7f

/** Characters above ASCII are few enough for an expression. */
function isSpaceAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code <= SPACE) return code === SPACE || (code >= 0x09 && code <= 0x0d)
  return code > LAST_ASCII && /\s/.test(text.charAt(at))
}
