import type { Secret } from '../../schemas/vault/secret.ts'

const STRUCK = '[secret]'
/** Secrets shorter than this would strike out ordinary words. */
const SECRET_CHARS_MIN = 8
/** Characters of a cause that is a plain text. */
const CAUSE_CHARS_MAX = 300
/** Causes of causes that are shown. */
const CAUSES_MAX = 4

/** What cleans finished lines. */
export interface Scrubber {
  scrub(line: string): string
  /** Strikes these out as well from now on, also as JSON and percent encoding write them. */
  hide(secrets: Iterable<Secret>): void
}

/**
 * Strikes out of a finished line the secrets it was told of and, whoever wrote them: what follows `Bearer`,
 * keys of ours, users and passwords of URLs, and passwords in queries. The last line of defence; secrets
 * should not get that far. Every pattern takes time linear in the line: callers choose parts of it.
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
      for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, STRUCK)
      clean = clean.replace(BEARER, `$1${STRUCK}`).replace(OUR_KEY, STRUCK)
      if (clean.includes('=')) clean = clean.replace(QUERY_SECRET, `$1${STRUCK}`)
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
 * A password may hold slashes, colons and `@` itself: all up to the last one goes, whatever else that takes
 * along.
 */
function withoutUser(word: string): string {
  const at = word.lastIndexOf('@')
  const start = at === -1 ? -1 : word.search(/:\/\/(?!\/)/)
  return start === -1 || at < start ? word : `${word.slice(0, start + 3)}${STRUCK}${word.slice(at)}`
}

/** Field names that hold secrets or content by their nature. */
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
 * Fields without what their names say is secret or content, down to so many levels; themselves where there is
 * none. The logger's own way, a path for each name and level, copies every line whole: ten times what the
 * line costs.
 * @param kept names of the first level whose values say by themselves what of them is told
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

/** What JSON shows field by field: a `Secret` or a `Date` says itself what it shows. */
function isOpen(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value)
}

/**
 * What of a cause is logged: its kind, code, text and frames; never the query, parameters or body it may
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
    // Frames alone: the head of a stack repeats the message.
    stack: (cause.stack ?? '')
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
    ...(cause.cause === undefined || depth <= 1 ? {} : { cause: describe(cause.cause, depth - 1) }),
  }
}
