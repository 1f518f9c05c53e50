import { KEY_PREFIXES, OWN_KEYS_BEGIN } from '../../../schemas/keys/api-keys.ts'
import { percentDecoded } from './placeholders.ts'

const OUR_KEY = new RegExp(Object.values(KEY_PREFIXES).join('|'))

/** Rounds of percent-encoding of a whole text that are decoded. Decision. */
const PERCENT_ROUNDS_MAX = 5

/** Nested encodings (base64, hexadecimal, full percent-encoding) in which a key is still recognized. Decision. */
const NESTED_MAX = 3

/**
 * `text` in base64, for each position in a group of three bytes: the characters that do not depend on the
 * text before and after it.
 */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.from('-'.repeat(before) + text).toString('base64')
    const part = whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6))
    return [part, part.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function inHex(text: string): string[] {
  const hex = Buffer.from(text).toString('hex')
  return [hex, hex.toUpperCase()]
}

/** Prefixes of encoded keys, for each nesting of the encodings, by a hash of eight bytes. */
const FORMS = new Map<number, readonly Buffer[]>()
/** For each half of a hash, true when a form begins with it: with this table the search skips most positions of a text. */
const IS_BEGUN = new Uint8Array(65_536)
for (let nth = 0, forms = [OWN_KEYS_BEGIN]; nth < NESTED_MAX; nth++) {
  const outer = [...new Set(forms.flatMap((form) => [...inBase64(form), ...inHex(form)]))]
  for (const form of outer.map((text) => Buffer.from(text))) {
    const hash = hashOf(form.readInt32BE(0), form.readInt32BE(4))
    FORMS.set(hash, [...(FORMS.get(hash) ?? []), form])
    IS_BEGUN[hash >>> 16] = 1
  }
  // The search decodes the outermost percent-encoding first, so that the table needs no forms for it.
  forms = [...outer, ...forms.flatMap(inHex).map((hex) => hex.replace(/../g, '%$&'))]
}

/**
 * True when a text contains an API key of any installation: plain, or in any nesting of base64 (at any
 * position, as in `Basic` with a user name), hexadecimal and percent-encoding. The search takes one pass over
 * the text, and another for each round of percent-encoding.
 * @param text one byte in each character
 */
export function holdsKey(text: string): boolean {
  let seen = text
  for (let round = 0; round <= PERCENT_ROUNDS_MAX; round++) {
    if (OUR_KEY.test(seen) || holdsEncoded(Buffer.from(seen, 'latin1'))) return true
    const decoded = percentDecoded(seen)
    if (decoded === seen) return false
    seen = decoded
  }
  return false
}

function holdsEncoded(bytes: Buffer): boolean {
  let [first, second] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    first = (first << 8) | (second >>> 24)
    second = (second << 8) | (bytes[at] ?? 0)
    const hash = hashOf(first, second)
    if (IS_BEGUN[hash >>> 16] === 0) continue
    for (const form of FORMS.get(hash) ?? []) if (stands(form, bytes, at - 7)) return true
  }
  return false
}

function stands(form: Uint8Array, bytes: Uint8Array, start: number): boolean {
  let nth = 0
  while (nth < form.length && bytes[start + nth] === form[nth]) nth++
  return nth === form.length
}

function hashOf(first: number, second: number): number {
  return Math.imul(Math.imul(first, 0x85ebca6b) ^ second, 0x9e3779b1) >>> 0
}
