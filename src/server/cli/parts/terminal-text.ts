/** Signs that are none: they move the cursor of a terminal, or worse, or change what is read beside them. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * What others have named must not steer a terminal, nor look like a line of ours: signs that are none become
 * a question mark.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(SIGNS, '?')
}

/** The same of several lines, which stay lines. */
export function escapeControlsInLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

/**
 * JSON of a value, in which such signs are written as what they are: programs read the same, and a terminal
 * nothing.
 */
export function escapeControlsInJson(value: unknown): string {
  return String(JSON.stringify(value)).replaceAll(SIGNS, (sign) => sign.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
