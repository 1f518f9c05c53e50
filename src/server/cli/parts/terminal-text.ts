/** Control and format characters: they move the cursor of a terminal, or change the text around them. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Replaces control characters by question marks: names chosen by other users must neither control a terminal nor imitate a line of Sluice. */
export function escapeControls(text: string): string {
  return text.replaceAll(SIGNS, '?')
}

/** As `escapeControls`, but keeps line ends. */
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

/** The style of a piece of text; without color the text reads the same. */
export type Tone = 'plain' | 'strong' | 'faint' | 'good' | 'warn' | 'bad'

const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  strong: '1',
  faint: '2',
  good: '32',
  warn: '33',
  bad: '1;31',
}
const ESC = '\u001b['

/** A text in its style. Call it after control characters in untrusted text were escaped. */
export function inTone(text: string, tone: Tone): string {
  return tone === 'plain' || text === '' ? text : `${ESC}${CODES[tone]}m${text}${ESC}0m`
}
