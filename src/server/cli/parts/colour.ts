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

/** A text in its style. To be called after control characters of others were escaped. */
export function inTone(text: string, tone: Tone): string {
  return tone === 'plain' || text === '' ? text : `${ESC}${CODES[tone]}m${text}${ESC}0m`
}
