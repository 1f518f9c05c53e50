import { BulkBytes } from '../../../schemas/bodies.ts'
import type { Failure } from '../../../schemas/failures.ts'
import type { AnyOperation, HeaderName } from '../../operations/define.ts'
import type { BodyVerdict } from '../../ports/short-jobs.ts'
import type { RequestHead } from './head.ts'

export type DeclaredHeaders = Readonly<Partial<Record<HeaderName, string>>>

const JSON_TYPES = /^application\/(?:[\w.!#$&^-]+\+)?json(?:\s*;|$)/i
export const NO_HEADERS: DeclaredHeaders = Object.freeze({})

/** The credential for `authenticate`. A key in a header of its own may lack the scheme. */
export function credentialOf({ access }: Pick<AnyOperation, 'access'>, head: RequestHead): string {
  const { authorization, sluiceKey } = head
  if (access.header === undefined) return authorization === '' ? anthropicCredential(head) : authorization
  return sluiceKey === '' || /^bearer /i.test(sluiceKey) ? sluiceKey : `Bearer ${sluiceKey}`
}

/** Applies to requests in Anthropic's shape alone: other requests' header is ignored. C37. */
function anthropicCredential(head: Pick<RequestHead, 'anthropicKey' | 'kept'>): string {
  if (head.anthropicKey === '') return ''
  const isAnthropic =
    head.kept('anthropic-version') !== undefined || head.kept('anthropic-beta') !== undefined
  return isAnthropic ? `Bearer ${head.anthropicKey}` : ''
}

/** A refusal of the credential, with the header in which this operation's key is sent. */
export function refusedCredential({ access }: Pick<AnyOperation, 'access'>, failure: Failure): Failure {
  if (failure.name !== 'credentials_missing' || access.header === undefined) return failure
  return { ...failure, fields: { header: `${access.header}: <key>` } }
}

/** The headers that an operation declared as inputs: the operation sees no others. */
export function declaredHeaders(wanted: readonly HeaderName[], head: RequestHead): DeclaredHeaders {
  const headers: Partial<Record<HeaderName, string>> = {}
  for (const name of wanted) {
    const value = head.kept(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/**
 * Refuses a body whose type is not JSON (`content_type_unsupported`), and a compressed body
 * (`header_invalid`). A missing type counts as JSON.
 */
export function contentRefusal({
  contentType,
  contentEncoding,
}: Pick<RequestHead, 'contentType' | 'contentEncoding'>): Failure | null {
  if (contentType !== '' && !JSON_TYPES.test(contentType)) {
    const issues = [
      {
        path: '/content-type',
        message: 'is not a JSON type',
        expected: 'application/json, or a type that ends in +json',
      },
    ]
    return { name: 'content_type_unsupported', metadata: { issues } }
  }
  return encodingRefusal({ contentEncoding })
}

export function encodingRefusal({ contentEncoding }: Pick<RequestHead, 'contentEncoding'>): Failure | null {
  // Decoding a compressed body would let a few bytes become many.
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    return refusal('content-encoding', 'is not supported', 'identity')
  }
  return null
}

/**
 * `header_invalid` for a write of a part of a file (RFC 9110 §14.5), and for a conditional write: a client
 * that sends such a header would lose content if the header were ignored.
 */
export function partialRefusal(head: Pick<RequestHead, 'kept'>): Failure | null {
  const found = WHOLE_ONLY.find((name) => head.kept(name) !== undefined)
  if (found === undefined) return null
  return refusal(found, 'is not supported by writes', 'a whole file without conditions')
}

const WHOLE_ONLY = ['content-range', 'if-match', 'if-none-match', 'if-unmodified-since'] as const

/**
 * The body as its operation sees it.
 * @param bulk name of the member that may have stayed bytes
 */
export function bodyOf(
  verdict: Extract<BodyVerdict, { ok: true }>,
  bulk: string | undefined,
): Record<string, unknown> {
  const { value } = verdict
  if (verdict.bulk === null || bulk === undefined) return value
  const { json, kind, count } = verdict.bulk
  return { ...value, [bulk]: new BulkBytes(json, kind, count) }
}

function refusal(name: string, message: string, expected: string): Failure {
  return { name: 'header_invalid', metadata: { issues: [{ path: `/${name}`, message, expected }] } }
}
