import { randomBytes } from 'node:crypto'
import type { Outcome } from '../../../schemas/failures.ts'
import { objectOf } from '../../../schemas/values/members.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import { fetchClip } from './clip-download.ts'
import { type ImageUrl, type Loaded, imagesIn } from './images.ts'
import { lookUp } from './openai-lookup.ts'
import { unavailable, unpolledBy } from './poll-verdict.ts'
import type { VideoProtocol, WayDeps } from './protocol.ts'
import { submittedBy } from './submission.ts'
import { reasonOf, jobError } from './job-errors.ts'
import { isUpstreamId } from './upstream-ids.ts'
import { objectIn, type VideoLink } from './video-link.ts'
import type { Endpoint, Provider, ProviderVideo } from '../../ports/models/models.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'

interface RequestDeps {
  readonly provider: Provider
  readonly video: ProviderVideo
  readonly endpoint: Endpoint | null
  /** Loads the bytes of images that have to be sent. */
  readonly load: (urls: readonly ImageUrl[]) => Promise<Loaded>
}

type RequestBody =
  | {
      readonly ok: true
      readonly path: string
      readonly contentType: string
      readonly pieces: readonly Uint8Array[]
      readonly release: () => void
    }
  | { readonly ok: false; readonly submitted: Submitted }

const JSON_TYPE = 'application/json'
const NOTHING_HELD = (): void => undefined
/** Optional fields, which a server may refuse as unknown: Sluice sends those that the catalogue lists. */
const OPTIONAL = [
  'user',
  'generate_audio',
  'resolution',
  'aspect_ratio',
  'creativity',
  'upscale_factor',
] as const

/**
 * The body of a job for OpenAI's `/videos`: a form, since servers with its protocol accept no other body; JSON only
 * when an image is passed on by its URL, for which the form has no plain field. A remix has a path of its own and takes
 * only a prompt.
 */
async function bodyOf(order: VideoOrder, deps: RequestDeps): Promise<RequestBody> {
  const { request } = order
  if (request.previousUpstreamId !== null) return remixOf(request.prompt, request.previousUpstreamId)
  const { frames, references } = imagesIn(request)
  const images = frames.length > 0 ? frames : references
  const [image] = images
  const { name, rename } = deps.provider
  if (images.length > 1) return refused(`${name} accepts only one image.`)
  const fields = Object.entries(fieldsOf(order, deps.endpoint)).map(
    ([field, value]) => [rename[field] ?? field, value] as const,
  )
  const imageField = rename['input_reference'] ?? 'input_reference'
  if (image !== undefined && deps.video.takesUrls) {
    return inJson('/videos', { ...Object.fromEntries(fields), [imageField]: { image_url: image.url } })
  }
  const loaded = await deps.load(images)
  if (!loaded.ok) return loaded
  const files = loaded.images.map(({ bytes, type }): [string, FormFile] => [
    imageField,
    { bytes, type, filename: `image.${type.slice(6)}` },
  ])
  const form = formOf([...fields.map(([field, value]): [string, string] => [field, textOf(value)]), ...files])
  return {
    ok: true,
    path: '/videos',
    contentType: form.contentType,
    pieces: form.pieces,
    release: loaded.release,
  }
}

/** Fields of the request. Sluice's own fields come after the caller's: the request contains what the caller pays for. */
function fieldsOf(
  { request, target }: VideoOrder,
  endpoint: Endpoint | null,
): Readonly<Record<string, unknown>> {
  const { size, passthrough, prompt, seed } = request
  const known = new Set<string>(endpoint?.supportedParameters ?? [])
  const optional = optionalOf(request)
  return {
    ...passthrough,
    model: target.upstreamModel,
    ...(prompt !== null && { prompt }),
    // In the protocol this member is a text, although the value is a number.
    seconds: String(request.seconds),
    ...(size !== null && { size: `${size.width}x${size.height}` }),
    ...(seed !== null && { seed }),
    ...Object.fromEntries(
      OPTIONAL.filter((name) => known.has(name) && optional[name] !== null).map((name) => [
        name,
        optional[name],
      ]),
    ),
  }
}

function optionalOf(request: VideoRequest): Readonly<Record<(typeof OPTIONAL)[number], unknown>> {
  return {
    user: request.user,
    generate_audio: request.hasAudio,
    resolution: request.resolution,
    aspect_ratio: request.aspectRatio,
    creativity: request.creativity,
    upscale_factor: request.upscaleFactor,
  }
}

function remixOf(prompt: string | null, previous: string): RequestBody {
  return inJson(`/videos/${encodeURIComponent(previous)}/remix`, { prompt: prompt ?? '' })
}

function inJson(path: string, body: object): RequestBody {
  return {
    ok: true,
    path,
    contentType: JSON_TYPE,
    pieces: [Buffer.from(JSON.stringify(body))],
    release: NOTHING_HELD,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function refused(words: string): RequestBody {
  return { ok: false, submitted: { kind: 'refused', error: jobError('reference_unusable', words) } }
}

const BOUNDARY_BYTES = 24

interface FormFile {
  readonly filename: string
  readonly type: string
  readonly bytes: Uint8Array
}

interface Form {
  readonly contentType: string
  readonly pieces: readonly Uint8Array[]
}

/** A multipart form whose bytes are not joined. Writers of fields cannot know its boundary. */
function formOf(fields: readonly (readonly [name: string, value: string | FormFile])[]): Form {
  const boundary = `sluice-${randomBytes(BOUNDARY_BYTES).toString('hex')}`
  const pieces = fields.flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${plain(name)}"`
    if (typeof value === 'string') return [Buffer.from(`${head}\r\n\r\n${value}\r\n`)]
    const file = `; filename="${plain(value.filename)}"\r\nContent-Type: ${value.type}\r\n\r\n`
    return [Buffer.from(head + file), value.bytes, Buffer.from('\r\n')]
  })
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    pieces: [...pieces, Buffer.from(`--${boundary}--\r\n`)],
  }
}

function plain(name: string): string {
  return name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
}

/** States of a job that ended without a clip; some servers use these in addition to `failed`. */
const ENDED: ReadonlySet<unknown> = new Set(['failed', 'cancelled', 'canceled', 'expired'])
const FILTERED = /moderat|policy|safety|blocked/i

/** OpenAI's `/videos`, and that of every server with the same protocol. */
export const openAiVideos: VideoProtocol = {
  async submit(order, { link, images, video, endpoint }, times): Promise<Submitted> {
    const load = (urls: readonly ImageUrl[]): Promise<Loaded> => images.load(urls, order, times)
    const body = await bodyOf(order, { provider: link.provider, video, endpoint, load })
    if (!body.ok) return body.submitted
    const { tokenHeader, submit } = video
    const isTokened = submit === 'token' && tokenHeader !== null
    const { path, contentType, pieces, release } = body
    const headers = isTokened ? [tokenHeader, order.submitToken] : []
    const posted = await link.post({ path, contentType, body: pieces, headers, mayRepeat: isTokened }, times)
    release()
    return submittedBy(posted, { link, order, idOf: ({ id }) => (isUpstreamId(id) ? id : null) })
  },

  async poll(order, upstreamId, { link, gone }, times): Promise<Polled> {
    const answer = await link.get(pathOf(upstreamId), times)
    const unpolled = unpolledBy(answer, { link, upstreamId, gone })
    if (unpolled !== null || !answer.ok) return unpolled ?? unavailable('')
    const job = objectIn(answer.value)
    const { name } = link.provider
    if (job === null || job['id'] !== upstreamId || typeof job['status'] !== 'string')
      return unavailable(`${name} returned no job.`)
    if (job['status'] === 'completed') return { kind: 'made', sources: [{ kind: 'content', index: 0 }] }
    if (ENDED.has(job['status'])) return failedBy(job, order, link)
    return { kind: 'running', retryInMs: null }
  },

  lookup(order, sinceMs, { link }, times): Promise<LookedUp> {
    return lookUp(link, { order, sinceMs, times })
  },

  download(
    order,
    { upstreamId, source },
    deps: WayDeps,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>> {
    return fetchClip(urlOf(source, upstreamId, deps.link), { ...deps, order, times })
  },

  async cancel(_order, upstreamId, { link }, times): Promise<void> {
    const answer = await link.remove(pathOf(upstreamId), times)
    if (answer.ok) answer.value.release()
  },
}

function urlOf(
  source: Exclude<VideoSource, { kind: 'inline' }>,
  upstreamId: string,
  link: VideoLink,
): string {
  return source.kind === 'url' ? source.url : link.urlOf(`${pathOf(upstreamId)}/content`).href
}

function pathOf(upstreamId: string): string {
  return `/videos/${encodeURIComponent(upstreamId)}`
}

function failedBy(
  job: Readonly<Record<string, unknown>>,
  order: VideoOrder,
  { provider: { name }, redacted }: VideoLink,
): Polled {
  const error = objectOf(job['error'])
  const reason = reasonOf({ error }, { redacted, order })
  const isFiltered = typeof error?.['code'] === 'string' && FILTERED.test(error['code'])
  const words = `${name} reported that the job has ${job['status'] === 'failed' ? 'failed' : 'ended'}${reason === null ? '.' : `: ${reason}`}`
  return { kind: 'failed', error: jobError(isFiltered ? 'provider_filtered' : 'provider_failed', words) }
}
