import { ok, type Outcome } from '../../../schemas/failures.ts'
import { isSecretName } from '../../../schemas/secret-names.ts'

/** Where a value goes, which decides how it is written. */
export type Place = 'header' | 'query' | 'json' | 'plain'

/** Text with places for secrets: literals, and between two of them the name of a secret. */
export interface Template {
  readonly literals: readonly string[]
  readonly names: readonly string[]
}

const OPENING = '{{secret:'
const CLOSING = '}}'

export function hasPlaceholder(text: string): boolean {
  return text.includes(OPENING)
}

/**
 * Finds the placeholders of a text, `{{secret:name}}`. Other braces are text like any; an opening without the name of a
 * secret and a closing behind it is null, since whoever wrote it did not mean it as text.
 * @param encoded true: each character may be percent-encoded, the placeholder's own too
 */
export function templateOf(text: string, encoded = false): Template | null {
  const { plain, at } = encoded ? decodedWithPlaces(text) : { plain: text, at: (index: number) => index }
  const literals: string[] = []
  const names: string[] = []
  let from = 0
  for (let open = plain.indexOf(OPENING); open >= 0; open = plain.indexOf(OPENING, from)) {
    const close = plain.indexOf(CLOSING, open)
    const name = plain.slice(open + OPENING.length, close)
    if (close < 0 || !isSecretName(name)) return null
    literals.push(text.slice(at(from), at(open)))
    names.push(name)
    from = close + CLOSING.length
  }
  literals.push(text.slice(at(from)))
  return { literals, names }
}

/** Percent-encoded bytes as the characters of their numbers; what is no such escape stays. */
export function percentDecoded(text: string): string {
  return decodedWithPlaces(text).plain
}

/**
 * Puts values in, once: what a value holds is never looked at again. All text is bytes, one in each character.
 * Failure: header_invalid, for a value that a header cannot hold.
 */
export function filled({ literals, names }: Template, values: ReadonlyMap<string, string>, place: Place): Outcome<string> {
  let text = literals[0] ?? ''
  for (const [index, name] of names.entries()) {
    const value = values.get(name)
    if (value === undefined) throw new Error('a secret that was not asked for')
    if (place === 'header' && !HEADER_VALUE.test(value)) return unfit(name)
    text += written(value, place) + (literals[index + 1] ?? '')
  }
  return ok(text)
}

/** No control characters but the tab: a line break would begin another header. RFC 9110 §5.5. */
const HEADER_VALUE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

function unfit(name: string): Outcome<never> {
  const detail = `The value of \`${name}\` has characters that a header cannot hold.`
  return { ok: false, failure: { name: 'header_invalid', detail } }
}

/** In JSON a value stays inside of its string, and in a query inside of its parameter, whatever it holds. */
function written(value: string, place: Place): string {
  if (place === 'query') return encodeURIComponent(value.toWellFormed())
  const text = place === 'json' ? JSON.stringify(value).slice(1, -1) : value
  return Buffer.from(text).toString('latin1')
}

const ESCAPE = /%([0-9a-fA-F]{2})/g

function decodedWithPlaces(text: string): { readonly plain: string; readonly at: (index: number) => number } {
  if (!text.includes('%')) return { plain: text, at: (index) => index }
  /** Places in the decoded text where an escape stood; each had two characters more. */
  const escapes: number[] = []
  const plain = text.replace(ESCAPE, (_, hex: string, offset: number) => {
    escapes.push(offset - 2 * escapes.length)
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
  const at = (index: number): number => {
    const before = escapes.findIndex((place) => place >= index)
    return index + 2 * (before < 0 ? escapes.length : before)
  }
  return { plain, at }
}
