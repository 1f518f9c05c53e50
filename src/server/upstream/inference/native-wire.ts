import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { InferenceJob } from '../../ports/inference/inference.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs, ShortJobMore } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { movable } from '../movable.ts'
import { foreignParts } from '../../../dialects/foreign-parts.ts'
import type { Framing } from './framing.ts'
import type { NativeJob, ProviderRequest } from './protocol.ts'
import { hasBareReasoning } from '../../../dialects/responses/native-request.ts'
import { isMaker, type LearnedText, mustSendMax } from './spoken.ts'
import type { CountWire, Wire } from './wire.ts'
import {
  mayCarryForeign,
  type BareReasoning,
  type ForeignParts,
} from '../../../dialects/prompt/signatures.ts'
import type { NativeTerms } from '../../../dialects/native.ts'
import type { FixedEdits } from '../../../schemas/inference/provider-body.ts'
import { OURS_NAMES } from '../../../schemas/inference/text-members.ts'
import { chatTokensMember } from '../../../schemas/models/openai-maker.ts'
import { fileEdits, type FileHole } from './inline/file-edits.ts'
import { owned } from '../../../schemas/values/lent-bytes.ts'
import { answerOfJob, nativeAnswer, NATIVE_DIALECTS } from '../../../dialects/native-answer.ts'
import type { NativeAnswer, NativeHead, WholeRead } from '../../../dialects/parts.ts'

interface NativeWireDeps {
  readonly endpoint: Endpoint
  readonly learned: LearnedText
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
  readonly framing: Framing
}

/** Requests and answers pass with their bytes unchanged, except as D4, D13 and D14 name: the endpoint speaks the caller's dialect. */
export function nativeWire(
  dialect: Dialect,
  { endpoint, learned, jobs, loop, framing }: NativeWireDeps,
): Wire {
  const { path, countPath, stream } = NATIVE_DIALECTS[dialect]
  const count: CountWire | null =
    countPath === undefined
      ? null
      : {
          path: countPath,
          request: (job) => {
            const { request: counted, files, passedHeaders } = job
            const asked = {
              request: counted,
              ...(files !== undefined && { files }),
              ...(passedHeaders !== undefined && { passedHeaders }),
            }
            return native(job, { endpoint, jobs, loop }, (foreign) =>
              nativeRequest(withForeign(asked, foreign), endpoint, learned.text),
            )
          },
          answer: (body) => (isTokenCount(body) ? Uint8Array.from(body) : null),
        }
  return {
    framing,
    pathOf: () => path,
    request: (job) =>
      native(job, { endpoint, jobs, loop }, (foreign) =>
        nativeRequest(withForeign(job, foreign), endpoint, learned.text),
      ),
    refused: (failure) => (dialect === 'chat' ? learned.refused(failure) : null),
    answered: (thinksIn) => learned.answered(thinksIn),
    stream,
    whole: ({ body, head, caller, endsAt }) =>
      readAnswer({ dialect, body, head }, { jobs, loop, caller, endsAt }),
    count,
  }
}

type Asked = Pick<InferenceJob, 'request' | 'caller' | 'call' | 'deadlineAt'>

/** @param foreign null: the request has no parts of other providers */
type Written = (foreign: ForeignParts | null) => ProviderRequest

/** The request without the reasoning that the provider would refuse. */
function native(
  { request: { dialect, source }, caller, call, deadlineAt: endsAt }: Asked,
  { endpoint, jobs, loop }: Pick<NativeWireDeps, 'endpoint' | 'jobs' | 'loop'>,
  written: Written,
): Outcome<ProviderRequest> | Promise<Outcome<ProviderRequest>> {
  const { bytes } = source
  const wanted = dialect === 'responses' ? bareAt(endpoint) : 'kept'
  const bare: BareReasoning = wanted !== 'kept' && hasBareReasoning(source) ? wanted : 'kept'
  if (bare === 'kept' && !mayCarryForeign(dialect, bytes)) return ok(written(null))
  const without = (foreign: ForeignParts | null): Outcome<ProviderRequest> => {
    const request = written(foreign)
    return ok(foreign === null ? request : { ...request, dropped: [...request.dropped, 'reasoning'] })
  }
  if (bytes.length <= INLINE_JSON_BYTES_MAX)
    return loop.booked(caller.organizationId, () => without(foreignParts(dialect, bytes, bare)))
  // A copy, since the bytes are moved to the thread.
  const input = { dialect, body: Uint8Array.from(bytes), bare }
  return jobs
    .run('foreign_parts', input, { caller, signal: call.signal, endsAt, transfer: movable(input.body) })
    .then((done) => (done.ok ? without(done.value) : done))
}

/** Under a workspace's own key its provider may have stored the content that an item names. */
function bareAt(endpoint: Endpoint): BareReasoning {
  if (endpoint.ownWay !== undefined) return 'kept'
  return isMaker(endpoint) ? 'cut' : 'cut without text'
}

function withForeign(job: NativeJob, foreign: ForeignParts | null): NativeJob {
  return foreign === null ? job : { ...job, foreign }
}

function isTokenCount(json: Uint8Array): boolean {
  try {
    const { input_tokens: tokens } = membersOf(JSON.parse(Buffer.from(json).toString()))
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
  } catch {
    return false
  }
}

/** The request for an endpoint that supports the caller's dialect. */
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

/** The edits of an endpoint: the provider's name of the model, without the members that are for Sluice only. Made once for an endpoint. */
export function ownEdits(endpoint: Pick<Endpoint, 'upstreamModel'>): FixedEdits {
  const known = OWN_EDITS.get(endpoint)
  if (known !== undefined) return known
  const own = new Map([['model', JSON.stringify(endpoint.upstreamModel)], ...OURS_CUT])
  OWN_EDITS.set(endpoint, own)
  return own
}

const OWN_EDITS = new WeakMap<object, FixedEdits>()

const OURS_CUT = OURS_NAMES.map((name) => [name, null] as const)

interface Unread {
  readonly dialect: Dialect
  readonly body: Uint8Array
  readonly head: NativeHead
}

interface Reading extends Pick<ShortJobMore, 'caller' | 'endsAt'> {
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
}

/**
 * Reads a whole answer: on the loop up to INLINE_JSON_BYTES_MAX, above it in a short job, to which the bytes
 * are moved. The work continues after the caller has disconnected, since the answer is charged. Failures: those of
 * `nativeAnswer`, and those of the pool of short jobs.
 */
export function readAnswer(
  unread: Unread,
  reading: Reading,
): WholeRead<NativeAnswer> | Promise<WholeRead<NativeAnswer>> {
  const { dialect, body, head } = unread
  return body.length > INLINE_JSON_BYTES_MAX
    ? readInJob(unread, reading)
    : reading.loop.booked(reading.caller.organizationId, () => nativeAnswer(dialect, body, head))
}

async function readInJob(
  { dialect, body, head }: Unread,
  { jobs, caller, endsAt }: Reading,
): Promise<WholeRead<NativeAnswer>> {
  const answer = owned(body)
  const more = { caller, transfer: movable(answer), ...(endsAt !== undefined && { endsAt }) }
  const done = await jobs.run('native_answer', { dialect, answer, head }, more)
  return done.ok ? answerOfJob(done.value) : done
}
