import { createHash } from 'node:crypto'
import { fail, ok, type Outcome } from './failures.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX } from './limits/idempotency-limits.ts'

/** The properties, apart from the body's bytes, that a repetition must share with the first call. */
export interface Repeatable {
  /** 1 to IDEMPOTENCY_KEY_CHARS_MAX characters, as sent. */
  readonly key: string
  readonly apiKeyHash: string
  readonly requestDigest: string
}

export interface KeyedRequest {
  /** The header `Idempotency-Key`, as sent. */
  readonly header: string | undefined
  readonly apiKeyHash: string
  /** Method, path and query as separate elements; an absent part is empty. */
  readonly request: readonly string[]
}

/**
 * Reads the header `Idempotency-Key`; null without the header, which makes every call a new one.
 * Failure: header_invalid (empty, or too long; characters are code points, C31).
 */
export function readIdempotency({ header, apiKeyHash, request }: KeyedRequest): Outcome<Repeatable | null> {
  if (header === undefined) return ok(null)
  const isTooLong =
    header.length > IDEMPOTENCY_KEY_CHARS_MAX && [...header].length > IDEMPOTENCY_KEY_CHARS_MAX
  if (header === '' || isTooLong) {
    const message = header === '' ? 'is empty' : 'is too long'
    return fail('header_invalid', {
      metadata: {
        issues: [
          { path: '/idempotency-key', message, expected: `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters` },
        ],
      },
    })
  }
  const requestDigest = createHash('sha256').update(JSON.stringify(request)).digest('hex')
  return ok({ key: header, apiKeyHash, requestDigest })
}

const REPLAYED_HEADER = 'idempotent-replayed'
/** The mark of a repeated answer. */
export const REPLAYED = { headers: { [REPLAYED_HEADER]: 'true' } } as const
/** The same header in the description of an operation. */
export const IDEMPOTENCY_HEADERS: Readonly<Record<string, string>> = {
  [REPLAYED_HEADER]: '`true` when this is the answer of an earlier call with the same `Idempotency-Key`.',
}
