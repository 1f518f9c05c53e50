import { FAILURES } from '../../../src/schemas/failures.ts'

/** Of an answer of the SCIM service. */
export interface ScimErrorBody {
  readonly schemas: readonly string[]
  readonly status: string
  readonly scimType?: string
  readonly detail: string
}

/**
 * Checks that an answer has the form of RFC 7644 §3.12 and no other.
 * @returns the name of the failure, by its text: no member of the body has it
 */
export function failureIn(text: string, { status, headers }: Pick<Response, 'status' | 'headers'>): string {
  if (headers.get('content-type') !== 'application/scim+json')
    throw new Error(`not SCIM: ${headers.get('content-type')}`)
  const body = JSON.parse(text) as ScimErrorBody
  const others = Object.keys(body).filter(
    (name) => !['schemas', 'status', 'scimType', 'detail'].includes(name),
  )
  if (others.length > 0) throw new Error(`members that RFC 7644 does not know: ${others.join()}`)
  if (body.schemas.join() !== 'urn:ietf:params:scim:api:messages:2.0:Error')
    throw new Error(`schemas: ${body.schemas.join()}`)
  if (body.status !== String(status)) throw new Error(`${body.status} in the body of a ${status}`)
  return failureOf(body.detail)
}

/** The failure whose text it begins with; else the text itself. */
export function failureOf(detail: string): string {
  return Object.entries(FAILURES).find(([, row]) => beginOf(row.text).test(detail))?.[0] ?? detail
}

/** The text up to its first issue. */
function beginOf(text: string): RegExp {
  const parts = text
    .replace(/\.$/, '')
    .split(/\{\w+\}(?: bytes)?/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}[.:]`)
}
