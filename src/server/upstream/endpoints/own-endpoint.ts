import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../schemas/models/provider-limits.ts'
import { endpointPrices } from '../../../schemas/money/read-prices.ts'
import type { Endpoint, EndpointText, Provider } from '../../ports/models/models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'

/** A private endpoint as an endpoint that routing and protocols use. @param provider the provider at the endpoint's address */
export function endpointAt(own: PrivateEndpoint, provider: Provider): Endpoint {
  return {
    tag: `private/${own.id}`,
    provider,
    upstreamModel: own.upstreamModelId,
    // The price was checked when it was set; calls of an endpoint without a price are free.
    prices: endpointPrices({ pricing: own.pricing ?? {} }),
    // The endpoint belongs to its workspace, and the operator does not pay for it.
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

/** Null: the endpoint writes nothing. */
function textAt(own: PrivateEndpoint, { text }: Provider): EndpointText | null {
  const speaks = own.speaks.filter((form) => form !== 'embeddings')
  if (speaks.length === 0) return null
  return {
    isStrict: text?.isStrict ?? false,
    firstOutputMs: text?.firstOutputMs ?? FIRST_OUTPUT_MS_DEFAULT,
    stallMs: text?.stallMs ?? STALL_MS_DEFAULT,
    // The server of a workspace stops when its caller disconnects.
    onLeave: 'cancel',
    speaks,
    maxCompletionTokens: null,
  }
}
