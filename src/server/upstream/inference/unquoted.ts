import type { Failure } from '../../../schemas/failures.ts'
import { QUOTED_CHARS_MIN } from '../../../schemas/inference/inference-limits.ts'
import { MIB } from '../../../schemas/limits/limits.ts'

/**
 * Bytes of a request that is searched for quotations on the loop. It takes 20 ms, or some 100 ms if the message
 * consists of pieces of the request. With a larger request, the provider's message is not shown. Decision.
 */
export const SEARCHED_BYTES_MAX = MIB

/** A quotation contains a whole piece of this length, wherever the quotation begins. */
const PIECE_CHARS = QUOTED_CHARS_MIN / 2
const CUT = '[…]'

/**
 * A provider's failure without quotations of the request: the caller gets its text and code, the log gets its code, and
 * a provider may write anything into both. Quotations of QUOTED_CHARS_MIN characters or more are removed from the text;
 * a path with such a quotation, and a code that occurs in the request, are left out.
 * @param request null when its bytes are released; the text, the path and the code are then left out
 */
export function unquoted(failure: Failure, request: Uint8Array | null): Failure {
  const { metadata, detail } = failure
  const code = metadata?.provider_code
  const bytes = request === null ? null : Buffer.from(request.buffer, request.byteOffset, request.length)
  const isQuoted = code !== undefined && (bytes === null || bytes.includes(code))
  const { provider_code, provider_param, ...others } = metadata ?? {}
  const kept = {
    ...others,
    ...(provider_code !== undefined && !isQuoted && { provider_code }),
    ...(provider_param !== undefined && !isQuotedPath(provider_param, bytes) && { provider_param }),
  }
  const text = detail === undefined ? undefined : cutOf(detail, bytes)
  return {
    ...failure,
    ...(text === undefined ? null : { detail: text }),
    ...(metadata === undefined ? null : { metadata: kept }),
  }
}

function isQuotedPath(path: string, request: Buffer | null): boolean {
  if (request === null || request.length > SEARCHED_BYTES_MAX) return true
  return path.length >= QUOTED_CHARS_MIN && cutOf(path, request) !== path
}

function cutOf(text: string, request: Buffer | null): string {
  // A provider's own words follow a colon.
  if (request === null || request.length > SEARCHED_BYTES_MAX) return text.replace(/:.*$/s, '.')
  const requestText = new RequestText(request)
  let from = 0
  let kept = ''
  for (let at = 0; at + PIECE_CHARS <= text.length; at += PIECE_CHARS) {
    if (at < from || !requestText.has(text.slice(at, at + PIECE_CHARS))) continue
    const start = quoteStart(text, [Math.max(from, at - PIECE_CHARS), at], requestText)
    if (start === null) continue
    kept += text.slice(from, start) + CUT
    from = quoteEnd(text, start, requestText)
  }
  return kept + text.slice(from)
}

/**
 * The texts of a request. The caller may escape any character, the provider quotes the text as it read it, and both may
 * have JSON within JSON, such as arguments of a tool.
 */
class RequestText {
  readonly #sent: string
  /** The request as JSON without needless escapes and spaces. */
  readonly #json: string

  constructor(bytes: Buffer) {
    this.#sent = bytes.toString()
    this.#json = plainJson(this.#sent)
  }

  /** Each search scans the whole request, so needless ones are skipped: most texts and most requests contain no escape. */
  has(text: string): boolean {
    if (this.#sent.includes(text)) return true
    const once = escapedOf(text)
    const isSearched = once === text && this.#json === this.#sent
    if (!isSearched && this.#json.includes(once)) return true
    const twice = escapedOf(once)
    return twice !== once && this.#json.includes(twice)
  }
}

function plainJson(sent: string): string {
  try {
    const json = JSON.stringify(JSON.parse(sent))
    return json === sent ? sent : json
  } catch {
    return ''
  }
}

/** Half of a surrogate pair, where a piece of a text ends within a character. */
const HALF = /\\u(d[89a-f][0-9a-f]{2})/g

function escapedOf(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(HALF, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The start of a quotation between two places; null: not found. */
function quoteStart(
  text: string,
  [first, last]: readonly [number, number],
  requestText: RequestText,
): number | null {
  for (let at = first; at <= last; at++)
    if (at + QUOTED_CHARS_MIN <= text.length && requestText.has(text.slice(at, at + QUOTED_CHARS_MIN)))
      return at
  return null
}

/** Finds the end by bisection: each beginning of a quotation is a quotation too. */
function quoteEnd(text: string, start: number, requestText: RequestText): number {
  let [end, over] = [start + QUOTED_CHARS_MIN, text.length + 1]
  while (over - end > 1) {
    const middle = Math.floor((end + over) / 2)
    if (requestText.has(text.slice(start, middle))) end = middle
    else over = middle
  }
  return end
}
