import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  EGRESS_FILLED_BODY_BYTES_MAX,
  EGRESS_SUBSTITUTED_BODY_BYTES_MAX,
} from '../../../schemas/egress/egress-limits.ts'
import type { RelayedRequest } from '../../ports/egress/relay.ts'
import { wholeBody } from './body-flow.ts'
import { malformed } from './outgoing-head.ts'
import { holdsKey } from './own-keys.ts'
import { filled, leastBytes, templateOf, type Place, type Template } from './placeholders.ts'

const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json(?:\s*;|$)/i
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;|$)/i

/** A body with places for secrets. */
export interface BodyTemplate {
  readonly template: Template
  readonly place: Place
}

/**
 * Reads a body whose placeholders are to be replaced. JSON and forms get values in their own syntax; any
 * other type gets them unchanged. Failures: body_too_large, header_invalid (encoded), body_invalid (a
 * malformed placeholder, a key of Sluice).
 */
export async function bodyTemplate({ headers, body }: RelayedRequest): Promise<Outcome<BodyTemplate>> {
  const encoding = valueOf(headers, 'content-encoding')
  if (encoding !== '' && encoding.toLowerCase() !== 'identity')
    return fail('header_invalid', { detail: 'Placeholders cannot be replaced in an encoded body.' })
  const received = await wholeBody(body, EGRESS_SUBSTITUTED_BODY_BYTES_MAX)
  if (!received.ok) return received
  const type = valueOf(headers, 'content-type')
  const place = JSON_TYPE.test(type) ? 'json' : FORM_TYPE.test(type) ? 'query' : 'plain'
  const text = received.value.toString('latin1')
  if (holdsKey(text))
    return fail('body_invalid', { detail: 'The body contains an API key of this installation.' })
  const template = templateOf(text, place === 'query')
  return template === null ? malformed('body_invalid') : ok({ template, place })
}

export function filledBody(
  { template, place }: BodyTemplate,
  values: ReadonlyMap<string, string>,
): Outcome<Buffer> {
  const text = filled(template, values, place)
  if (!text.ok) return text
  return text.value.length > EGRESS_FILLED_BODY_BYTES_MAX ? TOO_LARGE : ok(Buffer.from(text.value, 'latin1'))
}

/**
 * Checks whether a body may fit after its placeholders are replaced, before any secret is opened. @param
 * bytes length of each value. Failure: body_too_large
 */
export function bodyFits(body: BodyTemplate | null, bytes: ReadonlyMap<string, number>): Outcome<null> {
  return body === null || leastBytes(body.template, bytes) <= EGRESS_FILLED_BODY_BYTES_MAX
    ? ok(null)
    : TOO_LARGE
}

const TOO_LARGE = fail('body_too_large', { fields: { limit: EGRESS_FILLED_BODY_BYTES_MAX } })

function valueOf(headers: readonly string[], name: string): string {
  for (let at = 0; at + 1 < headers.length; at += 2) if (headers[at] === name) return headers[at + 1] ?? ''
  return ''
}
