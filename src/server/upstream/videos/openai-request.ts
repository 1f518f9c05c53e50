import { randomBytes } from 'node:crypto'
import type { Endpoint, Provider, ProviderVideo } from '../../ports/models/models.ts'
import type { Submitted, VideoOrder } from '../../ports/videos/video-providers.ts'
import type { VideoRequest } from '../../ports/videos/videos.ts'
import { imagesIn, type ImageUrl, type Loaded } from './images.ts'
import { jobError } from './job-errors.ts'

export interface RequestDeps {
  readonly provider: Provider
  readonly video: ProviderVideo
  readonly endpoint: Endpoint | null
  /** Loads the bytes of images that have to be sent. */
  readonly load: (urls: readonly ImageUrl[]) => Promise<Loaded>
}

export type RequestBody =
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
 * A job as OpenAI's `/videos` takes it: a form, since servers with its protocol read no other body, and JSON
 * only where an image is passed on by its URL, which has no plain form field. A remix has a path of its own
 * and takes only a prompt.
 */
export async function bodyOf(order: VideoOrder, deps: RequestDeps): Promise<RequestBody> {
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
    // The protocol has a text here, although the value is a number.
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

/** A multipart form whose bytes are not joined. The writer of a field cannot know its boundary. */
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
