import type { Pricing } from '../../schemas/models/models.ts'
import type { PriceModifier } from '../../schemas/models/price-conditions.ts'
import { writesText } from './build-text.ts'
import { makesVideo } from './build-video.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/** The terms of a model for one of its ids: the suffix is '' for the model itself and `:<suffix>` for a variant. */
export interface Terms {
  readonly suffix: string
  readonly pricing: Partial<Pricing> | undefined
  /** Modifiers of endpoints without their own. */
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
  // Prices in a modifier belong to the model's price, so modifiers are not inherited with a different price.
  const own = { pricing, modifiers: modifiers ?? [] }
  return {
    ...own,
    isFree: false,
    endpoints: inherited.map((endpoint) => ({ ...endpoint, ...own, free: false })),
  }
}

/** True when calls of the endpoint are free. The endpoint's own `free` or price overrides that of its model or variant. */
export function isFree({ free, pricing, video }: EndpointEntry, terms: Pick<Terms, 'isFree'>): boolean {
  return free ?? (pricing === undefined && video?.pricing_skus === undefined && terms.isFree)
}

/**
 * True for an endpoint that has no `free` and lacks a price for its model's output. A text model needs the
 * prices of prompt and completion, or only a price per request; a missing one of the two does not count as 0.
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
 * An endpoint without a price, identified by the model's id and the endpoint's tag: the operator pays the
 * provider, but no caller is charged.
 */
export interface UnpricedEndpoint {
  readonly model: string
  readonly provider: string
}

/** The unpriced endpoints of a model that can be called. @param isSpeaking the endpoint accepts text calls */
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
