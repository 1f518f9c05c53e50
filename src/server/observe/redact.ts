import type { Secret } from '../../schemas/secret.ts'

const STRUCK = '[secret]'
/** Secrets shorter than this would strike out ordinary words. */
const SECRET_CHARS_MIN = 8
/** Characters of a cause that is a plain text. */
const CAUSE_CHARS_MAX = 300
/** Causes of causes that are shown. */
const CAUSES_MAX = 4

/**
 * A function that strikes out of a finished line: the given secrets (also as JSON and percent encoding write them),
 * what follows `Bearer`, and passwords in URLs. The last line of defence; secrets should not get that far.
 */
export function scrubber(secrets: Iterable<Secret>): (line: string) => string {
  const texts = new Set<string>()
  for (const secret of secrets) {
    const text = secret.reveal()
    if (text.length < SECRET_CHARS_MIN) continue
    texts.add(text).add(JSON.stringify(text).slice(1, -1)).add(encodeURIComponent(text))
  }
  return (line) => {
    let clean = line
    for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, STRUCK)
    if (clean.includes('earer ')) clean = clean.replace(/\b(bearer )(?:\\.|[^\s"\\,;])+/gi, `$1${STRUCK}`)
    if (clean.includes('@')) clean = clean.replace(/(:\/\/[^\s"\\/@:]*:)[^\s"\\/@]+@/g, `$1${STRUCK}@`)
    return clean
  }
}

/** What of a cause is logged: its kind, code, text and frames; never the query, parameters or body it may carry. */
export function causeOf(cause: unknown): unknown {
  return describe(cause, CAUSES_MAX)
}

function describe(cause: unknown, depth: number): unknown {
  if (typeof cause === 'string') return cause.slice(0, CAUSE_CHARS_MAX)
  if (!(cause instanceof Error)) return cause === undefined || cause === null ? cause : `[${typeof cause}]`
  const code = 'code' in cause && (typeof cause.code === 'string' || typeof cause.code === 'number') ? cause.code : undefined
  return {
    name: cause.name,
    // The message of a JSON syntax error quotes the text, which is a caller's or a provider's content.
    message: cause.name === 'SyntaxError' ? '[withheld]' : cause.message.slice(0, CAUSE_CHARS_MAX),
    ...(code === undefined ? {} : { code }),
    // Frames alone: the head of a stack repeats the message.
    stack: (cause.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')).join('\n'),
    ...(cause.cause === undefined || depth <= 1 ? {} : { cause: describe(cause.cause, depth - 1) }),
  }
}
