/** Characters of an encoded form below which it would match unrelated text. */
const FORM_CHARS_MIN = 8

/** Redacts the values of secrets in a destination's response. */
export interface Redaction {
  /** @param text one byte in each character @returns the text with `[redacted:name]` in place of values */
  of(text: string): string
  /** @param name lower case */
  isIn(name: string): boolean
}

interface Needle {
  readonly text: string
  readonly mark: string
}

/**
 * Finds each value plain, percent-encoded, as JSON encodes it, in hex, and in base64 at every position. A
 * value that a destination splits, or turns into another form, is not found.
 * @param values by name
 */
export function redactionOf(values: ReadonlyMap<string, string>): Redaction {
  const needles = [...values]
    .flatMap(([name, value]) => needlesOf(value, `[redacted:${name}]`))
    // The longest first: one secret may be a part of another.
    .sort((one, other) => other.text.length - one.text.length)
  return {
    of: (text) => (needles.length === 0 ? text : redacted(text, needles)),
    isIn: (name) => needles.some(({ text }) => name.includes(text.toLowerCase())),
  }
}

/**
 * Replaces the needles without searching the replacements: otherwise each replacement could create a new
 * match.
 */
function redacted(text: string, needles: readonly Needle[]): string {
  let open: string[] = [text]
  const pieces = (needle: Needle): string[] =>
    open.flatMap((piece, index) =>
      index % 2 === 1
        ? [piece]
        : piece.split(needle.text).flatMap((part, nth) => (nth === 0 ? [part] : [needle.mark, part])),
    )
  for (const needle of needles) if (text.includes(needle.text)) open = pieces(needle)
  return open.join('')
}

function needlesOf(value: string, mark: string): readonly Needle[] {
  const bytes = Buffer.from(value)
  const percented = encodeURIComponent(value.toWellFormed())
  const forms = [
    percented,
    percented.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Of(bytes),
  ].filter((form) => form.length >= FORM_CHARS_MIN)
  return [...new Set([bytes.toString('latin1'), ...forms])].map((text) => ({ text, mark }))
}

/**
 * The base64 characters of a value that do not depend on the text around it, for each of the three positions.
 */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    const from = before === 0 ? 0 : before + 1
    const stable = text.slice(from, Math.floor(((before + bytes.length) * 8) / 6))
    return [stable, stable.replaceAll('-', '+').replaceAll('_', '/')]
  })
}
