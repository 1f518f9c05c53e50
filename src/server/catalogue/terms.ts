import type { Pricing } from '../../schemas/models/models.ts'
import type { PriceModifier } from '../../schemas/models/price-conditions.ts'
import { writesText } from './build-text.ts'
import { makesVideo } from './build-video.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/** The terms of a model under one of its ids: itself under the suffix '', its variants under `:<suffix>`. */
export interface Terms {
  readonly suffix: string
  readonly pricing: Partial<Pricing> | undefined
  /** Of endpoints without their own. */
  readonly modifiers: readonly PriceModifier[] | undefined
  readonly isFree: boolean
  readonly endpoints: readonly EndpointEntry[]
}

type Variant = Exclude<NonNullable<ModelEntry['variants']>[number], string>

export function allTermsOf(entry: ModelEntry): readonly Terms[] {
  const { pricing, modifiers, free = false, endpoints = [] } = entry
  const variants = (entry.variants ?? []).map((variant) =>
    typeof variant === 'string' ? { suffix: variant } : variant,
  )
  return [
    { suffix: '', pricing, modifiers, isFree: free, endpoints },
    ...variants.map((variant) => ({ suffix: `:${variant.suffix}`, ...termsOf(variant, entry) })),
  ]
}

/** The terms of a variant. Its price applies to every endpoint that it inherits; its own endpoints may have their own prices. */
function termsOf({ pricing, modifiers, free, endpoints }: Variant, model: ModelEntry): Omit<Terms, 'suffix'> {
  if (endpoints !== undefined) return { pricing, modifiers, isFree: free ?? false, endpoints }
  const inherited = model.endpoints ?? []
  if (free === true)
    return {
      pricing,
      modifiers,
      isFree: true,
      endpoints: inherited.map((endpoint) => ({ ...endpoint, free })),
    }
  if (pricing === undefined) {
    const { free: isFree = false } = model
    return { pricing: model.pricing, modifiers: modifiers ?? model.modifiers, isFree, endpoints: inherited }
  }
  // A modifier's own prices belong to the model's price, so they are not inherited with another price.
  const own = { pricing, modifiers: modifiers ?? [] }
  return {
    ...own,
    isFree: false,
    endpoints: inherited.map((endpoint) => ({ ...endpoint, ...own, free: false })),
  }
}

/** True when calls of the endpoint are free. The endpoint's own statement comes before that of its model or variant. */
export function isFree({ free, pricing, video }: EndpointEntry, terms: Pick<Terms, 'isFree'>): boolean {
  return free ?? (pricing === undefined && video?.pricing_skus === undefined && terms.isFree)
}

/**
 * True for an endpoint that has no `free` and lacks a price of what its model makes. A model that writes
 * needs the prices of prompt and completion, or a price per request alone: half a price is no price of 0.
 */
export function isUnpriced(
  endpoint: EndpointEntry,
  terms: Pick<Terms, 'isFree' | 'pricing'>,
  model: ModelEntry,
): boolean {
  if (isFree(endpoint, terms)) return false
  const isVideo = makesVideo(model)
  if (isVideo && endpoint.video?.pricing_skus === undefined && model.video?.pricing_skus === undefined)
    return true
  const { prompt, completion, request } = endpoint.pricing ?? terms.pricing ?? {}
  if (writesText(model) && (prompt === undefined) !== (completion === undefined)) return true
  return (!isVideo || writesText(model)) && prompt === undefined && request === undefined
}

/**
 * An endpoint without a price, by id of the model and tag of the endpoint: the operator pays its provider,
 * and no caller is charged.
 */
export interface UnpricedEndpoint {
  readonly model: string
  readonly provider: string
}

/** The unpriced endpoints of a model that can be called. @param isSpeaking the endpoint takes calls of models that write */
export function unpricedOf(
  entry: ModelEntry,
  isSpeaking: (endpoint: EndpointEntry) => boolean,
): readonly UnpricedEndpoint[] {
  const isCalled = makesVideo(entry) || entry.architecture?.output_modalities?.includes('embeddings') === true
  return allTermsOf(entry).flatMap((terms) =>
    terms.endpoints
      .filter((endpoint) => isCalled || (writesText(entry) && isSpeaking(endpoint)))
      .filter((endpoint) => isUnpriced(endpoint, terms, entry))
      .map(({ provider }) => ({ model: entry.id + terms.suffix, provider })),
  )
}
