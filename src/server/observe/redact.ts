import type { Secret } from '../../schemas/vault/secret.ts'

const REDACTED = '[secret]'
/** Characters below which a secret is not redacted, since it would remove ordinary words. */
const SECRET_CHARS_MIN = 8
/** Characters of a cause that is a plain text. */
const CAUSE_CHARS_MAX = 300
/** Nested causes that are logged. */
const CAUSES_MAX = 4

/** Redacts secrets in finished lines. */
export interface Scrubber {
  scrub(line: string): string
  /** Redacts further secrets from now on, also in the forms that JSON and percent encoding give them. */
  hide(secrets: Iterable<Secret>): void
}

/**
 * Redacts in a finished line the known secrets and, wherever they come from, the text after `Bearer`, keys of
 * Sluice, users and passwords of URLs, and passwords in queries. This is the last line of defence; secrets
 * should not reach a line. Every pattern takes time linear in the line, since callers choose parts of it.
 */
export function scrubber(secrets: Iterable<Secret>): Scrubber {
  const texts = new Set<string>()
  const hide = (more: Iterable<Secret>): void => {
    for (const secret of more) {
      const text = secret.reveal()
      if (text.length < SECRET_CHARS_MIN) continue
      texts.add(text).add(JSON.stringify(text).slice(1, -1)).add(encodeURIComponent(text))
    }
  }
  hide(secrets)
  return {
    hide,
    scrub(line) {
      let clean = line
      for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, REDACTED)
      clean = clean.replace(BEARER, `$1${REDACTED}`).replace(OUR_KEY, REDACTED)
      if (clean.includes('=')) clean = clean.replace(QUERY_SECRET, `$1${REDACTED}`)
      if (clean.includes('@') && clean.includes('://')) clean = clean.replace(WORD, withoutUser)
      return clean
    },
  }
}

const BEARER = /\b(bearer(?: |\\t)+)(?:\\.|[^\s"\\,;])+/gi
const OUR_KEY = /sk-sluice-[\w-]+/gi
const QUERY_SECRET = /([?&;][\w-]*(?:password|passwd|pwd|secret|token|key)=)[^\s"'\\&;#]+/gi
/** In a line of JSON a text ends at a quote at the latest. */
const WORD = /[^\s"]+/g

/**
 * Removes user and password of a URL. A password may hold slashes, colons and `@` itself, so that everything
 * up to the last `@` goes.
 */
function withoutUser(word: string): string {
  const at = word.lastIndexOf('@')
  const start = at === -1 ? -1 : word.search(/:\/\/(?!\/)/)
  return start === -1 || at < start ? word : `${word.slice(0, start + 3)}${REDACTED}${word.slice(at)}`
}

/** Names of fields that hold secrets or content. */
const REDACTED_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'apiKey',
  'api_key',
  'password',
  'secret',
  'token',
  'value',
  'body',
  'input',
  'prompt',
])

/**
 * The fields without secret and content, decided by their names down to `levels` levels; the same object
 * where nothing was removed. The logger's own redaction, a path for each name and level, copies every line
 * whole: ten times the cost of the line.
 * @param kept names of the first level whose values decide by themselves what is logged
 */
export function redacted(
  fields: object,
  levels: number,
  kept: ReadonlySet<string> = NONE,
): Record<string, unknown> {
  let clean = fields as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) {
    const shown = REDACTED_NAMES.has(name)
      ? '[redacted]'
      : levels > 1 && !kept.has(name) && isOpen(value)
        ? redacted(value, levels - 1)
        : value
    if (shown === value) continue
    if (clean === fields)
      clean = (Array.isArray(fields) ? [...fields] : { ...fields }) as Record<string, unknown>
    clean[name] = shown
  }
  return clean
}

const NONE: ReadonlySet<string> = new Set()

/** True for an object that JSON shows field by field: a `Secret` or a `Date` has a `toJSON` of its own. */
function isOpen(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

/**
 * The loggable parts of a cause: kind, code, text and frames; never the query, parameters or body that it may
 * carry.
 */
export function causeOf(cause: unknown): unknown {
  return describe(cause, CAUSES_MAX)
}

function describe(cause: unknown, depth: number): unknown {
  if (typeof cause === 'string') return cause.slice(0, CAUSE_CHARS_MAX)
  if (!(cause instanceof Error)) return cause === undefined || cause === null ? cause : `[${typeof cause}]`
  const code =
    'code' in cause && (typeof cause.code === 'string' || typeof cause.code === 'number')
      ? cause.code
      : undefined
  return {
    name: cause.name,
    // The message of a JSON syntax error quotes the text, which is a caller's or a provider's content.
    message: cause.name === 'SyntaxError' ? '[withheld]' : cause.message.slice(0, CAUSE_CHARS_MAX),
    ...(code === undefined ? {} : { code }),
    // Only the frames are logged: the head of a stack repeats the message.
    stack: (cause.stack ?? '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
    ...(cause.cause === undefined || depth <= 1 ? {} : { cause: describe(cause.cause, depth - 1) }),
  }
}
