import { nanoPerMillion } from '../../../schemas/money/prices.ts'
import type { Endpoint, Provider } from '../../ports/models/models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'

/**
 * A private endpoint in the form that routing and protocols use. @param provider the provider at the
 * endpoint's address
 */
export function endpointAt(own: PrivateEndpoint, provider: Provider): Endpoint {
  const { pricing } = own
  return {
    tag: `private/${own.id}`,
    provider,
    upstreamModel: own.upstreamModelId,
    // The price was checked when it was set.
    promptNanoPerMillion: pricing === null ? 0 : (nanoPerMillion(pricing.prompt) ?? 0),
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
    text: null,
  }
}
