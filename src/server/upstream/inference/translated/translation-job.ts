import type { TranslationJob } from '../../../../dialects/translate.ts'
import { TRANSLATED_INLINE_BYTES_MAX } from '../../../../schemas/inference/inference-limits.ts'
import type { TextRequest } from '../../../../schemas/inference/text-request.ts'
import type { InferenceJob } from '../../../ports/inference/inference.ts'
import type { Endpoint, EndpointText } from '../../../ports/models/models.ts'
import { isMaker, isVertex, signatureFormatOf, mustSendMax } from '../spoken.ts'
import type { Issue } from '../../../../schemas/failure-metadata.ts'
import { fail, type Outcome } from '../../../../schemas/failures.ts'
import { nativeIssue } from '../../../../dialects/table/lost-members.ts'
import { ISSUES_MAX } from '../../../../schemas/limits/limits.ts'
import type { TextProtocol } from '../../../../schemas/models/protocols.ts'

/** Messages and parts of a request, or of an answer, that is translated on the loop. Decision. */
export const TRANSLATED_INLINE_PARTS_MAX = 500

/** A call as its writer sees it. A call that counts tokens has no limits. */
export type WrittenCall = Pick<InferenceJob, 'request'> &
  Partial<Pick<InferenceJob, 'limits' | 'defaultTokensMax'>>

interface TranslatedEndpoint {
  readonly endpoint: Endpoint
  readonly text: EndpointText
  readonly protocol: TextProtocol
}

export function translationJob(
  { request, limits = null, defaultTokensMax = null }: WrittenCall,
  { endpoint, text, protocol }: TranslatedEndpoint,
): TranslationJob {
  const sent = mustSendMax(endpoint, { tokensMax: request.size.tokensMax, defaultTokensMax, limits })
  // The Messages dialect requires a maximum: when the catalogue has none either, the writer sets one.
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
      ...(text.reasoningField && { reasoningField: text.reasoningField }),
      ...(text.efforts && { efforts: text.efforts }),
      ...(protocol === 'gemini' && isVertex(endpoint) && { isWithoutTier: true }),
      signatureFormats: [signatureFormatOf(endpoint.provider.slug, protocol)],
    },
    ...(isDropRefused(request) && { isDropRefused: true }),
  }
}

const OPENING_BRACE = 0x7b
/** A message is an object, and so is each of its parts. */
const OBJECTS_OF_PART = 2

/**
 * Whether JSON is translated on the loop, in about a millisecond, rather than in a thread. Braces within texts count
 * too: a text with code may be sent to a thread needlessly.
 * @param times how often it is translated
 */
export function isTranslatedHere(json: Uint8Array, times = 1): boolean {
  if (json.length * times > TRANSLATED_INLINE_BYTES_MAX) return false
  let left = (TRANSLATED_INLINE_PARTS_MAX * OBJECTS_OF_PART) / times
  for (let at = json.indexOf(OPENING_BRACE); at !== -1; at = json.indexOf(OPENING_BRACE, at + 1))
    if (--left < 0) return false
  return true
}

/** Dropping counts as refusing. */
export function isDropRefused({ provider }: Pick<TextRequest, 'provider'>): boolean {
  return provider?.require_parameters === true
}

/** @param issues members that an endpoint would refuse, one or more */
export function unsupported(issues: readonly Issue[]): Outcome<never> {
  return fail('field_unsupported', { metadata: { issues: issues.slice(0, ISSUES_MAX) } })
}

/**
 * The members that an endpoint of the caller's own form drops, when the caller does not allow it.
 * @param dropped members that it leaves out
 */
export function lostOf(
  request: Pick<TextRequest, 'dialect' | 'provider'>,
  dropped: readonly string[],
): readonly Issue[] {
  if (dropped.length === 0 || !isDropRefused(request)) return NOTHING
  return dropped.map((name) => nativeIssue(request.dialect, name))
}

const NOTHING: readonly Issue[] = []
