import type { Pricing } from '../../schemas/models/models.ts'
import { makesVideo } from './build-video.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/** The terms of a model under one of its ids: itself under the suffix '', its variants under `:<suffix>`. */
export interface Terms {
  readonly suffix: string
  readonly pricing: Partial<Pricing> | undefined
  readonly isFree: boolean
  readonly endpoints: readonly EndpointEntry[]
}

type Variant = Exclude<NonNullable<ModelEntry['variants']>[number], string>

export function allTermsOf(entry: ModelEntry): readonly Terms[] {
  const { pricing, free = false, endpoints = [] } = entry
  const variants = (entry.variants ?? []).map((variant) =>
    typeof variant === 'string' ? { suffix: variant } : variant,
  )
  return [
    { suffix: '', pricing, isFree: free, endpoints },
    ...variants.map((variant) => ({ suffix: `:${variant.suffix}`, ...termsOf(variant, entry) })),
  ]
}

/**
 * The terms of a variant. Its price applies to every endpoint that it inherits; its own endpoints may have
 * their own prices.
 */
function termsOf({ pricing, free, endpoints }: Variant, model: ModelEntry): Omit<Terms, 'suffix'> {
  if (endpoints !== undefined) return { pricing, isFree: free ?? false, endpoints }
  const inherited = model.endpoints ?? []
  if (free === true)
    return { pricing, isFree: true, endpoints: inherited.map((endpoint) => ({ ...endpoint, free })) }
  if (pricing === undefined)
    return { pricing: model.pricing, isFree: model.free ?? false, endpoints: inherited }
  return {
    pricing,
    isFree: false,
    endpoints: inherited.map((endpoint) => ({ ...endpoint, pricing, free: false })),
  }
}

/**
 * True when calls of the endpoint are free. The endpoint's own statement comes before that of its model or
 * variant. C40.
 */
export function isFree({ free, pricing, video }: EndpointEntry, terms: Pick<Terms, 'isFree'>): boolean {
  return free ?? (pricing === undefined && video?.pricing_skus === undefined && terms.isFree)
}

/** True for an endpoint that has neither a price nor `free`. C40. */
export function isUnpriced(
  endpoint: EndpointEntry,
  terms: Pick<Terms, 'isFree' | 'pricing'>,
  model: ModelEntry,
): boolean {
  if (isFree(endpoint, terms)) return false
  if (makesVideo(model))
    return endpoint.video?.pricing_skus === undefined && model.video?.pricing_skus === undefined
  const { prompt, request } = endpoint.pricing ?? terms.pricing ?? {}
  return prompt === undefined && request === undefined
}

/**
 * An endpoint without a price, by id of the model and tag of the endpoint: the operator pays its provider,
 * and no caller is charged.
 */
export interface UnpricedEndpoint {
  readonly model: string
  readonly provider: string
}

/** The unpriced endpoints of a model that can be called. */
export function unpricedOf(entry: ModelEntry): readonly UnpricedEndpoint[] {
  if (!makesVideo(entry) && entry.architecture?.output_modalities?.includes('embeddings') !== true) return []
  return allTermsOf(entry).flatMap((terms) =>
    terms.endpoints
      .filter((endpoint) => isUnpriced(endpoint, terms, entry))
      .map(({ provider }) => ({ model: entry.id + terms.suffix, provider })),
  )
}
