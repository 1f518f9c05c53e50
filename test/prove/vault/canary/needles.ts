import { randomBytes } from 'node:crypto'

/** One way in which text may lie somewhere, as bytes that can only come from it. */
export interface Needle {
  readonly form: string
  readonly bytes: Buffer
}

/** What all values of a run have in common: wherever it shows, in any form, one of them has leaked. */
export interface Marker {
  readonly text: string
  readonly needles: readonly Needle[]
  /** A new value around the marker, with characters that every form of escaping changes. */
  value(): string
}

const MARKER_BYTES = 18
/** Bytes of base64 that depend on the bytes before or after the text. */
const EDGE_CHARS = 4

export function newMarker(): Marker {
  // Letters and digits alone: URL and JSON escaping leave them as they are.
  const text = `cnry${randomBytes(MARKER_BYTES).toString('hex')}`
  return {
    text,
    needles: needlesOf(text),
    value: () => `${randomBytes(6).toString('hex')}"/+\\ ${text}%&=${randomBytes(6).toString('hex')}`,
  }
}

function needlesOf(text: string): readonly Needle[] {
  const utf16 = Buffer.from(text, 'utf16le')
  const hex = Buffer.from(text).toString('hex')
  return [
    { form: 'raw, URL-encoded or JSON-escaped', bytes: Buffer.from(text) },
    { form: 'hex', bytes: Buffer.from(hex) },
    { form: 'upper-case hex', bytes: Buffer.from(hex.toUpperCase()) },
    { form: 'percent-encoded byte by byte', bytes: Buffer.from(percent(text, false)) },
    { form: 'percent-encoded byte by byte, upper case', bytes: Buffer.from(percent(text, true)) },
    {
      form: 'JSON escapes',
      bytes: Buffer.from(
        [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
      ),
    },
    { form: 'UTF-16LE', bytes: utf16 },
    { form: 'UTF-16BE', bytes: Buffer.from(utf16).swap16() },
    ...base64Of(Buffer.from(text), 'base64'),
    ...base64Of(utf16, 'base64 of UTF-16LE'),
  ]
}

/**
 * The middle of the text in base64, in each of the three places that it can have among the groups of three
 * bytes. Hex digits and the marker's letters have neither of the two characters in which base64url differs
 * often; both are looked for.
 */
function base64Of(bytes: Buffer, form: string): readonly Needle[] {
  return [0, 1, 2].flatMap((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const middle = whole.slice(EDGE_CHARS, -EDGE_CHARS)
    const url = middle.replaceAll('+', '-').replaceAll('/', '_')
    return [...new Set([middle, url])].map((text) => ({
      form: `${form}, ${shift} bytes in`,
      bytes: Buffer.from(text),
    }))
  })
}

function percent(text: string, isUpper: boolean): string {
  const digits = Buffer.from(text).toString('hex').match(/../g) ?? []
  return digits.map((pair) => `%${isUpper ? pair.toUpperCase() : pair}`).join('')
}
