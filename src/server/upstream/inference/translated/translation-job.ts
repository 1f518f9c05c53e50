import type { TranslationJob } from '../../../../schemas/inference/forms/translate.ts'
import type { TextRequest } from '../../../../schemas/inference/text-request.ts'
import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import type { InferenceJob } from '../../../ports/inference/inference.ts'
import type { Endpoint, EndpointText } from '../../../ports/models/models.ts'
import { mustSendMax } from '../bounds.ts'
import { isMaker, signatureFormatOf } from '../spoken.ts'

/** A call as its writer sees it. One that counts tokens has no limits. */
export type WrittenCall = Pick<InferenceJob, 'request'> &
  Partial<Pick<InferenceJob, 'limits' | 'defaultTokensMax'>>

interface TranslatedEndpoint {
  readonly endpoint: Endpoint
  readonly text: EndpointText
  readonly protocol: TextProtocol
}

/** A call of one dialect as the job that writes it for an endpoint of another protocol. D5, D6. */
export function translationJob(
  { request, limits = null, defaultTokensMax = null }: WrittenCall,
  { endpoint, text, protocol }: TranslatedEndpoint,
): TranslationJob {
  const sent = mustSendMax(endpoint, { tokensMax: request.size.tokensMax, defaultTokensMax, limits })
  // Messages need a maximum: where the catalogue has none either, their writer sets one.
  const needed = protocol === 'messages' ? text.maxCompletionTokens : null
  return {
    dialect: request.dialect,
    protocol,
    body: request.source.bytes,
    terms: {
      upstreamModel: endpoint.upstreamModel,
      tokensMax: sent ?? needed,
      isStrict: text.isStrict,
      isMaker: isMaker(endpoint),
      signatureFormats: [signatureFormatOf(endpoint.provider.slug, protocol)],
    },
    ...(isDropRefused(request) && { isDropRefused: true }),
  }
}

/** Dropping counts as refusing. D6. */
export function isDropRefused({ provider }: Pick<TextRequest, 'provider'>): boolean {
  return provider?.require_parameters === true
}
