import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { VIDEO_IMAGES_MS, VIDEO_UNSENT_RETRY_MS } from '../../../schemas/videos/video-provider-limits.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Submitted, VideoCallTimes, VideoOrder } from '../../ports/videos/video-providers.ts'
import { openOutside, readOutside } from '../outside.ts'
import { jobError } from './job-errors.ts'
import { MIB } from '../../../schemas/limits/limits.ts'
import { imageTypeOf, type ImageType } from '../../../schemas/files/mime-types.ts'

/** Images of one job that Sluice downloads and sends to the provider. Decision. */
export const VIDEO_IMAGES_MAX = 10
/** Bytes of one image of a job. Decision. */
export const VIDEO_IMAGE_BYTES_MAX = 10 * MIB

export interface Image {
  readonly bytes: Uint8Array
  readonly type: ImageType
}

export interface ImageUrl {
  /** `frame_images[0]` */
  readonly place: string
  readonly url: string
}

export interface RequestImages {
  readonly frames: readonly (ImageUrl & { readonly frame: 'first_frame' | 'last_frame' })[]
  readonly references: readonly ImageUrl[]
}

/** The result of `load`: the images and a function that frees their memory, or the outcome of the submission without them. */
export type Loaded =
  | { readonly ok: true; readonly images: readonly Image[]; readonly release: () => void }
  | { readonly ok: false; readonly submitted: Submitted }

type Times = Pick<VideoCallTimes, 'endsAt' | 'signal'>

const DATA_URL = /^data:[\w.+/-]*(?:;[\w.+=-]+)*;base64,/i
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Places of frames and references in the request; references other than images are left out. */
export function imagesIn({ frames, references }: VideoOrder['request']): RequestImages {
  return {
    frames: frames.map(({ frame, url }, nth) => ({ frame, url, place: `frame_images[${nth}]` })),
    references: references.flatMap(({ kind, url }, nth) =>
      kind === 'image' ? [{ url, place: `input_references[${nth}]` }] : [],
    ),
  }
}

type ImagesOrder = Pick<VideoOrder, 'organizationId' | 'workspaceId' | 'keyHash'>

/** Loads images as bytes: fetched through the gate, or decoded from `data:` URLs. Only the content decides the type. */
export class Images {
  readonly #egress: Pick<Egress, 'vetted' | 'hold'>

  constructor(egress: Pick<Egress, 'vetted' | 'hold'>) {
    this.#egress = egress
  }

  /**
   * Loads all images or none, one after another. An image that cannot be loaded fails the job; the error names its
   * place and the reason, but not its address. Missing memory in Sluice does not fail the job.
   */
  async load(
    urls: readonly ImageUrl[],
    { organizationId, workspaceId, keyHash }: ImagesOrder,
    times: VideoCallTimes,
  ): Promise<Loaded> {
    if (urls.length > VIDEO_IMAGES_MAX) return refused(`At most ${VIDEO_IMAGES_MAX} images can be sent.`)
    const room = this.#egress.hold(urls.length * VIDEO_IMAGE_BYTES_MAX, {
      organizationId,
      workspaceId,
      key: keyHash,
    })
    if (room === null) return unsent('There is not enough memory for the images at the moment; retry.')
    const images: Image[] = []
    const endsAt = Math.min(times.endsAt, performance.now() + VIDEO_IMAGES_MS)
    for (const { url, place } of urls) {
      const image = await this.#one(url, workspaceId, { endsAt, signal: times.signal })
      if (image.ok) images.push(image.value)
      else {
        room.give()
        return ofFailure(image.failure, place)
      }
    }
    return { ok: true, images, release: () => room.give() }
  }

  async #one(url: string, workspaceId: string, times: Times): Promise<Outcome<Image>> {
    const bytes = url.startsWith('data:') ? decoded(url) : await this.#fetched(url, workspaceId, times)
    if (!bytes.ok) return bytes
    const type = imageTypeOf(bytes.value)
    return type === null
      ? invalid('The image is not PNG, JPEG, WebP or GIF.')
      : ok({ bytes: bytes.value, type })
  }

  async #fetched(url: string, workspaceId: string, { endsAt, signal }: Times): Promise<Outcome<Buffer>> {
    const opened = await openOutside(url, { egress: this.#egress, workspaceId, beginsBy: endsAt, signal })
    if (!opened.ok) return opened
    const { status, body } = opened.value
    const read =
      status === 200
        ? await readOutside(opened.value, { endsAt, bytesMax: VIDEO_IMAGE_BYTES_MAX })
        : invalid(`The host of the image returned ${status}.`)
    body.close()
    if (read.ok) return ok(Buffer.concat(read.value))
    return read.failure.name === 'upstream_too_large' ? tooLarge() : read
  }
}

function decoded(url: string): Outcome<Buffer> {
  const head = DATA_URL.exec(url)?.[0]
  if (head === undefined) return invalid('The image is not a base64 `data:` URL.')
  if ((url.length - head.length) * 3 > (VIDEO_IMAGE_BYTES_MAX + 2) * 4) return tooLarge()
  const text = url.slice(head.length)
  if (text === '' || !BASE64.test(text)) return invalid('The image is not valid base64.')
  return ok(Buffer.from(text, 'base64'))
}

function tooLarge(): Outcome<never> {
  return invalid(`The image has more than ${VIDEO_IMAGE_BYTES_MAX} bytes.`)
}

function invalid(detail: string): Outcome<never> {
  return fail('upstream_invalid', { detail })
}

function ofFailure({ name, detail }: Failure, place: string): Loaded {
  switch (name) {
    case 'busy':
      return unsent('There is not enough memory for the images at the moment; retry.')
    case 'client_gone':
    case 'draining':
    case 'deadline_exceeded':
      return unsent('The image is no longer needed.')
    case 'upstream_slow':
      return refused(`${place}: The image did not arrive in time.`)
    case 'destination_refused':
      return refused(`${place}: ${detail ?? 'Its address is not allowed.'}`)
    default:
      return refused(`${place}: ${detail ?? 'It could not be fetched.'}`)
  }
}

function refused(words: string): Loaded {
  return { ok: false, submitted: { kind: 'refused', error: jobError('reference_unusable', words) } }
}

function unsent(words: string): Loaded {
  return {
    ok: false,
    submitted: {
      kind: 'unsent',
      retryInMs: VIDEO_UNSENT_RETRY_MS,
      error: jobError('provider_unavailable', words),
    },
  }
}
