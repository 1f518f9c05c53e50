import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import {
  mayBePlaceless,
  placeOf,
  uncountable,
  type CreateEndpointBody,
  type EndpointPricing,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { EndpointInput } from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'

export type EndpointFields = Omit<EndpointInput, 'organizationId' | 'idempotency'>

/** The normalized fields of a new endpoint. Failures: body_invalid, base_url_invalid, provider_unsupported. */
export function fieldsOf(body: CreateEndpointBody, ports: Ports): Outcome<EndpointFields> {
  const { provider_slug: providerSlug, base_url: given = null, pricing = null } = body
  const priced = pricing === null ? ok(null) : countable(pricing)
  if (!priced.ok) return priced
  if (given === null)
    return mayBePlaceless(providerSlug)
      ? fail('provider_unsupported', { fields: { provider: providerSlug } })
      : MISSING_URL
  const baseUrl = baseUrlOf(given, ports)
  if (!baseUrl.ok) return baseUrl
  return ok({
    modelPermaslug: body.model_permaslug,
    providerSlug,
    upstreamModelId: body.upstream_model_id,
    baseUrl: baseUrl.value,
    declaredRegion: body.declared_region ?? null,
    declaredZdr: body.declared_zdr ?? null,
    pricing: pricing === null ? null : inOrder(pricing),
    secretName: body.secret_name ?? null,
    forms: body.forms ?? null,
  })
}

/** The base URL, normalized, after the checks of the gate that need only its text. Failure: base_url_invalid. B2.6. */
export function baseUrlOf(given: string, { endpointProber }: Pick<Ports, 'endpointProber'>): Outcome<string> {
  const place = placeOf(given)
  if (place !== null && endpointProber.mayReach(place.url)) return ok(place.url)
  const why = /^http:/i.test(given) ? PLAIN : NOT_ALLOWED
  return fail('base_url_invalid', { metadata: { issues: [{ path: '/base_url', ...why }] } })
}

const NOT_ALLOWED = {
  message: 'is not allowed',
  expected: 'an https: URL without credentials, query or fragment, on port 443 or an allowed port from 1024',
}

const PLAIN = {
  message: 'begins with http:',
  expected: 'the URL with https:; the operator can allow plain HTTP with SLUICE_EGRESS_ALLOW',
}

/** Sorts prices, so that two bodies with the same prices in another order have the same digest. */
function inOrder(pricing: EndpointPricing): EndpointPricing {
  const { prompt, completion, input_cache_read: read, input_cache_write: write } = pricing
  return {
    prompt,
    completion,
    ...(read !== undefined && { input_cache_read: read }),
    ...(write !== undefined && { input_cache_write: write }),
  }
}

/** Failure: body_invalid (a price with more decimal places than can be counted). C14. */
export function countable(pricing: EndpointPricing): Outcome<null> {
  const issues = uncountable(pricing).map((name): Issue => ({
    path: `/pricing/${name}`,
    message: 'has too many decimal places or is too large',
    expected: 'at most 15 decimal places and at most $9',
  }))
  return issues.length === 0 ? ok(null) : fail('body_invalid', { metadata: { issues } })
}

const MISSING_URL = fail('body_invalid', {
  metadata: { issues: [{ path: '/base_url', message: 'is missing', expected: 'an https: URL' }] },
})
