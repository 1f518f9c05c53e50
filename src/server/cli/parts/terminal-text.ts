/** Control and format characters: they move the cursor of a terminal, or change the text around them. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Replaces control characters by question marks: names that others chose must neither control a terminal nor
 * imitate a line of Sluice.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(SIGNS, '?')
}

/** The same for several lines, which stay lines. */
export function escapeControlsInLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

/** JSON of a value with control characters escaped: programs read the same value, and a terminal is not affected. */
export function escapeControlsInJson(value: unknown): string {
  return String(JSON.stringify(value)).replaceAll(SIGNS, (sign) => sign.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
