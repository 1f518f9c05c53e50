import type { Failure } from '../../../schemas/failures.ts'
import { QUOTED_CHARS_MIN, SEARCHED_BYTES_MAX } from '../../../schemas/inference/inference-limits.ts'

/** A quotation has a whole piece of this length, wherever it begins. */
const PIECE_CHARS = QUOTED_CHARS_MIN / 2
const CUT = '[…]'

/**
 * A provider's failure without what stood in the request: its text goes to the caller, its code also to the
 * log, and a provider can write into both what it likes. Quotations from QUOTED_CHARS_MIN characters on are
 * cut out of the text, and a code that stands in the request is left out. D37.
 * @param request null: its bytes are gone; the text and the code are left out then
 */
export function unquoted(failure: Failure, request: Uint8Array | null): Failure {
  const { metadata, detail } = failure
  const code = metadata?.provider_code
  const bytes = request === null ? null : Buffer.from(request.buffer, request.byteOffset, request.length)
  const isQuoted = code !== undefined && (bytes === null || bytes.includes(code))
  const { provider_code: _, ...others } = metadata ?? {}
  const text = detail === undefined ? undefined : cutOf(detail, bytes)
  return {
    ...failure,
    ...(text === undefined ? null : { detail: text }),
    ...(isQuoted ? { metadata: others } : null),
  }
}

function cutOf(text: string, request: Buffer | null): string {
  // A provider's own words stand behind a colon.
  if (request === null || request.length > SEARCHED_BYTES_MAX) return text.replace(/:.*$/s, '.')
  let from = 0
  let kept = ''
  for (let at = 0; at + PIECE_CHARS <= text.length; at += PIECE_CHARS) {
    if (at < from || !request.includes(text.slice(at, at + PIECE_CHARS))) continue
    const start = quoteStart(text, Math.max(from, at - PIECE_CHARS), at, request)
    if (start === null) continue
    kept += text.slice(from, start) + CUT
    from = quoteEnd(text, start, request)
  }
  return kept + text.slice(from)
}

/** Where a quotation begins between two places; null: none does. */
function quoteStart(text: string, first: number, last: number, request: Buffer): number | null {
  for (let at = first; at <= last; at++)
    if (at + QUOTED_CHARS_MIN <= text.length && request.includes(text.slice(at, at + QUOTED_CHARS_MIN)))
      return at
  return null
}

function quoteEnd(text: string, start: number, request: Buffer): number {
  let end = start + QUOTED_CHARS_MIN
  while (end < text.length && request.includes(text.slice(start, end + 1))) end++
  return end
}
