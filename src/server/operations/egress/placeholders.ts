import { ok, type Outcome } from '../../../schemas/failures.ts'
import { isSecretName } from '../../../schemas/vault/vault.ts'

/** Where a value is inserted, which decides its encoding. */
export type Place = 'header' | 'query' | 'json' | 'plain'

/** Text with placeholders for secrets: literals, with the name of a secret between each two of them. */
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
 * Finds the placeholders of a text, `{{secret:name}}`. Other braces are plain text. The result is null when an
 * opening has no valid name or no closing: its author did not mean plain text.
 * @param encoded true: each character may be percent-encoded, including those of the placeholder
 */
export function templateOf(text: string, encoded = false): Template | null {
  const { plain, escapes } = encoded ? decodedWithPlaces(text) : { plain: text, escapes: [] }
  const at = placesIn(escapes)
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

/** Decodes each percent-encoded byte to the character with that code; other text is unchanged. */
export function percentDecoded(text: string): string {
  return decodedWithPlaces(text).plain
}

/**
 * Replaces the placeholders once: values are never searched for placeholders. All text is bytes, one in each
 * character. Failure: header_invalid, for a value that is not allowed in a header.
 */
export function filled(
  { literals, names }: Template,
  values: ReadonlyMap<string, string>,
  place: Place,
): Outcome<string> {
  let text = literals[0] ?? ''
  for (const [index, name] of names.entries()) {
    const value = values.get(name)
    if (value === undefined) throw new Error('internal: a secret was not requested')
    if (place === 'header' && !HEADER_VALUE.test(value)) return unfit(name)
    text += written(value, place) + (literals[index + 1] ?? '')
  }
  return ok(text)
}

/**
 * Least bytes of a text after its placeholders are replaced: no place encodes a value in fewer bytes than it
 * has.
 * @param bytes length of each value
 */
export function leastBytes({ literals, names }: Template, bytes: ReadonlyMap<string, number>): number {
  const values = names.reduce((sum, name) => sum + (bytes.get(name) ?? 0), 0)
  return literals.reduce((sum, literal) => sum + literal.length, values)
}

/** Valid header value: no control characters but the tab, since a line break would begin another header. RFC 9110 §5.5. */
const HEADER_VALUE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

function unfit(name: string): Outcome<never> {
  const detail = `The value of \`${name}\` has characters that are not allowed in a header.`
  return { ok: false, failure: { name: 'header_invalid', detail } }
}

/** Encodes a value for its place: in JSON any value stays inside its string, and in a query inside its parameter. */
function written(value: string, place: Place): string {
  if (place === 'query') return encodeURIComponent(value.toWellFormed())
  const text = place === 'json' ? JSON.stringify(value).slice(1, -1) : value
  return Buffer.from(text).toString('latin1')
}

interface Decoded {
  readonly plain: string
  /** Indexes in `plain` of decoded escapes, ascending; each escape had two more characters. */
  readonly escapes: readonly number[]
}

/**
 * Decodes without a regular expression: a callback for each escape in 64 KiB would block the loop for 3 ms.
 * @param text one byte in each character
 */
function decodedWithPlaces(text: string): Decoded {
  let at = text.indexOf('%')
  if (at < 0) return { plain: text, escapes: [] }
  const bytes = Buffer.from(text, 'latin1')
  const escapes: number[] = []
  let length = at
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    const value = byte === PERCENT ? hexOf(bytes[at + 1]) * 16 + hexOf(bytes[at + 2]) : NaN
    const isEscape = !Number.isNaN(value)
    if (isEscape) escapes.push(length)
    // The write position never passes the read position, so that one buffer is enough.
    bytes[length++] = isEscape ? value : byte
    at += isEscape ? 3 : 1
  }
  return { plain: bytes.toString('latin1', 0, length), escapes }
}

const PERCENT = 0x25

/** NaN for a byte that is not a hexadecimal digit. */
function hexOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN
}

/**
 * Maps indexes of the decoded text to the encoded one. Indexes must be passed in ascending order, so that one
 * pass over the escapes serves all placeholders: a search for each would make the time grow with the square of
 * the text.
 */
function placesIn(escapes: readonly number[]): (index: number) => number {
  let before = 0
  return (index) => {
    while (before < escapes.length && (escapes[before] ?? index) < index) before++
    return index + 2 * before
  }
}
