import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../schemas/models/provider-limits.ts'
import { nanoPerMillion } from '../../../schemas/money/prices.ts'
import type { Endpoint, EndpointText, Provider } from '../../ports/models/models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'

/**
 * A private endpoint in the form that routing and protocols use. @param provider the provider at the
 * endpoint's address
 */
export function endpointAt(own: PrivateEndpoint, provider: Provider): Endpoint {
  return {
    tag: `private/${own.id}`,
    provider,
    upstreamModel: own.upstreamModelId,
    promptNanoPerMillion: priceOf(own, 'prompt'),
    requestNano: 0,
    // The endpoint belongs to its workspace, and the operator does not pay for it. C40.
    isUnpriced: false,
    quantization: null,
    isZdr: own.declaredZdr,
    mayTrain: null,
    isDistillable: null,
    contextLength: null,
    supportedParameters: [],
    video: null,
    text: textAt(own, provider),
    embeds: own.speaks.includes('embeddings'),
  }
}

/** Nano-USD per million tokens. The price was checked when it was set; without one calls are free. */
function priceOf({ pricing }: PrivateEndpoint, name: 'prompt' | 'completion'): number {
  return pricing === null ? 0 : (nanoPerMillion(pricing[name]) ?? 0)
}

/** Nano-USD per million tokens of input that a cache gave or keeps: as of any other, unless it was set. */
function cachePriceOf(own: PrivateEndpoint, name: 'input_cache_read' | 'input_cache_write'): number {
  const price = own.pricing?.[name]
  return price === undefined ? priceOf(own, 'prompt') : (nanoPerMillion(price) ?? 0)
}

/** Null: the endpoint writes nothing. Reasoning costs as the answer does. D26. */
function textAt(own: PrivateEndpoint, { text }: Provider): EndpointText | null {
  const speaks = own.speaks.filter((form) => form !== 'embeddings')
  if (speaks.length === 0) return null
  const [prompt, completion] = [priceOf(own, 'prompt'), priceOf(own, 'completion')]
  const cacheRead = cachePriceOf(own, 'input_cache_read')
  const cacheWrite = cachePriceOf(own, 'input_cache_write')
  return {
    isStrict: text?.isStrict ?? false,
    firstOutputMs: text?.firstOutputMs ?? FIRST_OUTPUT_MS_DEFAULT,
    stallMs: text?.stallMs ?? STALL_MS_DEFAULT,
    // The server of a workspace stops when its caller does. D27.
    onLeave: 'cancel',
    speaks,
    completionNanoPerMillion: completion,
    cacheReadNanoPerMillion: cacheRead,
    cacheWriteNanoPerMillion: cacheWrite,
    cacheWriteHourNanoPerMillion: cacheWrite,
    reasoningNanoPerMillion: completion,
    inputNanoPerMillionMax: Math.max(prompt, cacheRead, cacheWrite),
    outputNanoPerMillionMax: completion,
    maxCompletionTokens: null,
  }
}
