import { nanoPerMillion } from '../../../schemas/money/prices.ts'
import type { Endpoint, Provider } from '../../ports/models/models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'

/** A private endpoint as routing and protocols see one. @param provider where it is reached */
export function endpointAt(own: PrivateEndpoint, provider: Provider): Endpoint {
  const { pricing } = own
  return {
    tag: `private/${own.id}`,
    provider,
    upstreamModel: own.upstreamModelId,
    // A price was counted when it was set.
    promptNanoPerMillion: pricing === null ? 0 : (nanoPerMillion(pricing.prompt) ?? 0),
    requestNano: 0,
    // It is its owner's: what it costs the operator does not pay. C40.
    isUnpriced: false,
    quantization: null,
    isZdr: own.declaredZdr,
    mayTrain: null,
    isDistillable: null,
    contextLength: null,
    supportedParameters: [],
    video: null,
  }
}
