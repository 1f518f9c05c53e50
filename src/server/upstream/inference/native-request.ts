import type { NativeTerms } from '../../../dialects/native.ts'
import type { FixedEdits } from '../../../schemas/inference/provider-body.ts'
import { OURS_NAMES } from '../../../schemas/inference/text-members.ts'
import { chatTokensMember } from '../../../schemas/models/openai-maker.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import { mustSendMax } from './bounds.ts'
import { NATIVE_DIALECTS } from '../../../dialects/native-dialects.ts'
import { fileEdits, type FileHole } from './inline/file-edits.ts'
import type { NativeJob, ProviderRequest } from './protocol.ts'
import { isMaker } from './spoken.ts'

/** The request of a call to an endpoint that speaks the caller's dialect. D4. */
export function nativeRequest(
  job: NativeJob,
  endpoint: Endpoint,
  text: Pick<EndpointText, 'isStrict' | 'reasoningField'>,
): ProviderRequest {
  const { request, files, passedHeaders, foreign } = job
  const { dialect, source } = request
  const asked = { request, passedHeaders, foreign, contents: fileEdits(source, files) }
  return NATIVE_DIALECTS[dialect].request<FileHole>(asked, termsOf(job, endpoint, text))
}

function termsOf(
  { request, limits = null, defaultTokensMax = null }: NativeJob,
  endpoint: Endpoint,
  { isStrict, reasoningField }: Pick<EndpointText, 'isStrict' | 'reasoningField'>,
): NativeTerms {
  return {
    own: ownEdits(endpoint),
    isStrict,
    reasoningField,
    tokensMember: chatTokensMember(isMaker(endpoint)),
    tokensMax: mustSendMax(endpoint, { tokensMax: request.size.tokensMax, defaultTokensMax, limits }),
    isOwn: endpoint.ownWay !== undefined,
  }
}

/** The provider's name of the model, and no member that is for Sluice alone. Made once for an endpoint. */
export function ownEdits(endpoint: Pick<Endpoint, 'upstreamModel'>): FixedEdits {
  const known = OWN_EDITS.get(endpoint)
  if (known !== undefined) return known
  const own = new Map([['model', JSON.stringify(endpoint.upstreamModel)], ...OURS_CUT])
  OWN_EDITS.set(endpoint, own)
  return own
}

const OWN_EDITS = new WeakMap<object, FixedEdits>()
const OURS_CUT = OURS_NAMES.map((name) => [name, null] as const)
