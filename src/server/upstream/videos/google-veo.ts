import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../schemas/videos/video-limits.ts'
import { objectOf } from '../../../schemas/values/members.ts'
import { VIDEO_UNSENT_RETRY_MS } from '../../../schemas/videos/video-provider-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import { ClipReader, fetchClip, readerOf } from './clip-download.ts'
import { imagesIn, type Image, type RequestImages } from './images.ts'
import { unavailable, unpolledBy } from './poll-verdict.ts'
import type { ClipAt, VideoProtocol, WayDeps } from './protocol.ts'
import { submittedBy } from './submission.ts'
import { reasonOf, jobError } from './job-errors.ts'
import { isUpstreamId } from './upstream-ids.ts'
import { listOf, objectIn, type VideoLink } from './video-link.ts'
import { MIB } from '../../../schemas/limits/limits.ts'

/** Bytes of an answer by Google, which may contain the clip itself in base64. Decision. */
export const VIDEO_INLINE_ANSWER_BYTES_MAX = 32 * MIB

type Json = Readonly<Record<string, unknown>>

/** Names of operations are paths of letters, digits and a few marks, none of which needs escaping. */
const OPERATION = /^[\w.~/-]+$/

/** Google's long-running operations, in the form of the Gemini API for Veo. The API has neither an idempotency token nor a list of jobs. */
export const googleVeo: VideoProtocol = {
  async submit(order, deps, times): Promise<Submitted> {
    const { link, images } = deps
    const { previousUpstreamId } = order.request
    const previousUri =
      previousUpstreamId === null ? null : await videoOf(order, previousUpstreamId, deps, times)
    if (previousUri !== null && typeof previousUri !== 'string') return previousUri
    const { frames, references } = imagesIn(order.request)
    const loaded = await images.load([...frames, ...references], order, times)
    if (!loaded.ok) return loaded.submitted
    const body = veoRequest(order, { images: loaded.images, frames, previousUri })
    const path = `/models/${encodeURIComponent(order.target.upstreamModel)}:predictLongRunning`
    const posted = await link.post({ path, contentType: 'application/json', body, mayRepeat: false }, times)
    loaded.release()
    return submittedBy(posted, { link, order, idOf: ({ name }) => (isOperation(name) ? name : null) })
  },

  async poll(order, upstreamId, deps, times): Promise<Polled> {
    const operation = await operationOf(upstreamId, deps, times)
    return 'kind' in operation ? operation : polledOf(operation.body, order, deps.link)
  },

  lookup(): Promise<LookedUp> {
    return Promise.resolve({
      kind: 'unavailable',
      error: jobError('provider_unavailable', 'This provider cannot list its jobs.'),
    })
  },

  async download(order, clip, deps, times): Promise<Outcome<ByteReader>> {
    const { source } = clip
    return source.kind === 'url'
      ? fetchClip(source.url, { ...deps, order, times })
      : inlineOf({ ...clip, source }, deps, times)
  },

  /** The API has no call to cancel a job. */
  cancel: () => Promise.resolve(),
}

function isOperation(value: unknown): value is string {
  return isUpstreamId(value) && OPERATION.test(value)
}

async function operationOf(
  name: string,
  { link, gone }: WayDeps,
  times: VideoCallTimes,
): Promise<{ readonly body: Json } | Polled> {
  if (!isOperation(name))
    return {
      kind: 'failed',
      error: jobError('provider_failed', 'The provider returned an invalid operation name.'),
    }
  const answer = await link.get(`/${name}`, times, VIDEO_INLINE_ANSWER_BYTES_MAX)
  const unpolled = unpolledBy(answer, { link, upstreamId: name, gone })
  if (unpolled !== null || !answer.ok) return unpolled ?? unavailable('')
  const body = objectIn(answer.value)
  return body === null || body['name'] !== name
    ? unavailable(`${link.provider.name} returned no operation.`)
    : { body }
}

function polledOf(body: Json, order: VideoOrder, { provider: { name }, redacted }: VideoLink): Polled {
  if (body['done'] !== true) return { kind: 'running', retryInMs: null }
  const because = (value: unknown): string => {
    const reason = reasonOf({ error: value }, { redacted, order })
    return reason === null ? '.' : `: ${reason}`
  }
  if (objectOf(body['error']) !== null) {
    return {
      kind: 'failed',
      error: jobError('provider_failed', `${name} reported that the job failed${because(body['error'])}`),
    }
  }
  const samples = samplesIn(body)
  const sources = samples.flatMap((sample, index): VideoSource[] => {
    const uri = sample['uri']
    if (typeof uri === 'string') return [{ kind: 'url', url: uri }]
    // The bytes stay at the provider: they do not belong in a row.
    return typeof bytesIn(sample) === 'string' ? [{ kind: 'content', index }] : []
  })
  if (sources.length > 0) return { kind: 'made', sources }
  const [filter] = listOf(answerIn(body)?.['raiMediaFilteredReasons'])
  if (filter !== undefined)
    return {
      kind: 'failed',
      error: jobError('provider_filtered', `${name} filtered the video${because({ message: filter })}`),
    }
  return {
    kind: 'failed',
    error: jobError('provider_failed', `${name} made no video and gave no reason.`),
  }
}

/** The result of an operation. Clients have seen it with and without its envelope. */
function answerIn(body: Json): Json | null {
  const response = objectOf(body['response'])
  return objectOf(response?.['generateVideoResponse']) ?? response
}

function samplesIn(body: Json): readonly Json[] {
  const answer = answerIn(body)
  const samples = [...listOf(answer?.['generatedSamples']), ...listOf(answer?.['generatedVideos'])]
  return samples.map((sample) => objectOf(objectOf(sample)?.['video'])).filter((video) => video !== null)
}

function bytesIn(video: Json): unknown {
  return video['encodedVideo'] ?? video['videoBytes'] ?? video['bytesBase64Encoded']
}

/** The clip that an operation contains. Failures: video_clip_gone, upstream_failed. */
async function inlineOf(
  { upstreamId, source }: ClipAt,
  deps: WayDeps,
  times: VideoCallTimes,
): Promise<Outcome<ByteReader>> {
  const operation = await operationOf(upstreamId, deps, times)
  if ('kind' in operation) return fail(operation.kind === 'failed' ? 'video_clip_gone' : 'upstream_failed')
  const video = source.kind === 'content' ? samplesIn(operation.body)[source.index] : undefined
  const base64 = video === undefined ? undefined : bytesIn(video)
  if (typeof base64 !== 'string') return fail('video_clip_gone')
  return ok(new ClipReader(readerOf(Buffer.from(base64, 'base64')), times, VIDEO_CLIP_BYTES_MAX))
}

/**
 * Address of the clip of an earlier operation, or the outcome of the submission when there is no address: while the
 * address is unknown, the submission waits.
 */
async function videoOf(
  order: VideoOrder,
  upstreamId: string,
  deps: WayDeps,
  times: VideoCallTimes,
): Promise<string | Submitted> {
  const operation = await operationOf(upstreamId, deps, times)
  const polled = 'kind' in operation ? operation : polledOf(operation.body, order, deps.link)
  if (polled.kind === 'unavailable')
    return { kind: 'unsent', retryInMs: polled.retryInMs ?? VIDEO_UNSENT_RETRY_MS, error: polled.error }
  const source = polled.kind === 'made' ? polled.sources[0] : undefined
  if (source?.kind === 'url') return source.url
  return {
    kind: 'refused',
    error: jobError('provider_refused', 'The clip to continue from no longer exists.'),
  }
}

interface VeoInput {
  /** The images of the frames in their order, then those of the references. */
  readonly images: readonly Image[]
  readonly frames: RequestImages['frames']
  /** Address of the clip that this one continues; null for none. */
  readonly previousUri: string | null
}

/**
 * The body for `predictLongRunning`. No field requests sound: the model decides. The API's documentation names
 * `inlineData`, which the API refuses.
 */
function veoRequest({ request }: VideoOrder, { images, frames, previousUri }: VeoInput): string {
  const encoded = images.map(({ bytes, type }) => ({
    bytesBase64Encoded: Buffer.from(bytes).toString('base64'),
    mimeType: type,
  }))
  const frame = (name: 'first_frame' | 'last_frame'): object | undefined =>
    encoded[frames.findIndex((one) => one.frame === name)]
  const [first, last] = [frame('first_frame'), frame('last_frame')]
  const references = encoded.slice(frames.length).map((image) => ({ image, referenceType: 'asset' }))
  const { prompt, passthrough, aspectRatio, resolution, seconds, seed } = request
  const instance = {
    ...(prompt !== null && { prompt }),
    ...(first !== undefined && { image: first }),
    ...(last !== undefined && { lastFrame: last }),
    ...(references.length > 0 && { referenceImages: references }),
    ...(previousUri !== null && { video: { uri: previousUri } }),
  }
  const parameters = {
    ...passthrough,
    durationSeconds: seconds,
    // The caller pays for one clip.
    sampleCount: 1,
    ...(aspectRatio !== null && { aspectRatio }),
    ...(resolution !== null && { resolution }),
    ...(seed !== null && { seed }),
  }
  return JSON.stringify({ instances: [instance], parameters })
}
