import type { Pricing } from '../../schemas/models/models.ts'
import { makesVideo } from './build-video.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/** What a model asks for under one of its ids: itself under the suffix '', its variants under `:<suffix>`. */
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

/** A variant's price is for every endpoint that it takes over; its own endpoints may have their own. */
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

/** What an endpoint says of itself comes before what its model or variant says. C40. */
export function isFree({ free, pricing, video }: EndpointEntry, terms: Pick<Terms, 'isFree'>): boolean {
  return free ?? (pricing === undefined && video?.pricing_skus === undefined && terms.isFree)
}

/** Neither a price that calls are charged by, nor `free`. C40. */
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
 * Calls cost what the operator's provider asks, and nobody is charged: by id of the model and tag of the
 * endpoint.
 */
export interface UnpricedEndpoint {
  readonly model: string
  readonly provider: string
}

/** Of models that can be called. */
export function unpricedOf(entry: ModelEntry): readonly UnpricedEndpoint[] {
  if (!makesVideo(entry) && entry.architecture?.output_modalities?.includes('embeddings') !== true) return []
  return allTermsOf(entry).flatMap((terms) =>
    terms.endpoints
      .filter((endpoint) => isUnpriced(endpoint, terms, entry))
      .map(({ provider }) => ({ model: entry.id + terms.suffix, provider })),
  )
}
