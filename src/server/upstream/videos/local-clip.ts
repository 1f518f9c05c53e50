import { setImmediate as nextTurn } from 'node:timers/promises'
import { hash } from 'node:crypto'
import {
  clipSize,
  CLIP_ASPECT_RATIOS,
  CLIP_RESOLUTIONS,
  type ClipSize,
} from '../../../schemas/videos/clip.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../schemas/videos/video-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { ProviderVideo } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoProvider,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import { ClipReader, readerOf } from './clip-download.ts'
import { imagesIn, type Image, type Images } from './images.ts'
import { jobError } from './job-errors.ts'

export interface LocalDeps {
  readonly slug: string
  readonly video: ProviderVideo
  readonly jobs: Pick<ShortJobs, 'run'>
  readonly images: Images
}

/**
 * `sluice/clip-1`: a small clip that the pool of short jobs renders when the clip is fetched. The clip depends only on
 * the order, so that any runner can render it, also again after a crash. Design §10.
 */
export class LocalClip implements VideoProvider {
  readonly slug: string
  readonly video: ProviderVideo
  readonly #jobs: Pick<ShortJobs, 'run'>
  readonly #images: Images

  constructor({ slug, video, jobs, images }: LocalDeps) {
    this.slug = slug
    this.video = video
    this.#jobs = jobs
    this.#images = images
  }

  submit({ submitToken }: VideoOrder, times: VideoCallTimes): Promise<Submitted> {
    const isOurs = !times.signal.aborted && times.mayWrite()
    if (!isOurs)
      return Promise.resolve({
        kind: 'unsent',
        retryInMs: 0,
        error: jobError('provider_unavailable', 'The job was cancelled before the provider was called.'),
      })
    return Promise.resolve({ kind: 'taken', upstreamId: `clip_${submitToken}` })
  }

  poll(): Promise<Polled> {
    return Promise.resolve({ kind: 'made', sources: [{ kind: 'content', index: 0 }] })
  }

  lookup({ submitToken }: VideoOrder): Promise<LookedUp> {
    return Promise.resolve({ kind: 'complete', upstreamIds: [`clip_${submitToken}`] })
  }

  /**
   * Renders the clip. Failures: upstream_refused (an image that cannot be fetched or is of another type, with
   * the reason), busy (the pool or the memory for images is full; a later try may succeed), and those of the
   * pool of short jobs.
   */
  async download(
    order: VideoOrder,
    _upstreamId: string,
    _source: VideoSource,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>> {
    const { frames, references } = imagesIn(order.request)
    const loaded = await this.#images.load([...frames, ...references], order, times)
    if (!loaded.ok) {
      const { submitted } = loaded
      return submitted.kind === 'refused'
        ? fail('upstream_refused', { detail: submitted.error })
        : fail('busy', { retryAfterS: 1 })
    }
    const { prompt, seconds } = order.request
    const scene = { prompt, seconds, ...sizeOf(order.request), seed: await seedOf(order, loaded.images) }
    loaded.release()
    const { signal, endsAt } = times
    const caller = {
      organizationId: order.organizationId,
      workspaceId: order.workspaceId,
      key: order.keyHash,
    }
    const rendered = await this.#jobs.run('render_clip', scene, { caller, signal, endsAt })
    return rendered.ok ? ok(new ClipReader(readerOf(rendered.value), times, VIDEO_CLIP_BYTES_MAX)) : rendered
  }

  cancel(): Promise<void> {
    return Promise.resolve()
  }
}

/**
 * The seed is the same for each attempt of a job, and for each job with the same request if the request has a seed. Images
 * are not decoded: their bytes only change the scene.
 */
async function seedOf(
  { jobId, request: { seed, prompt, frames } }: VideoOrder,
  images: readonly Image[],
): Promise<number> {
  const digests: string[] = []
  for (const { bytes } of images) {
    digests.push(hash('sha256', bytes))
    // An image of 10 MiB takes some 20 ms.
    await nextTurn()
  }
  const scene = JSON.stringify([seed ?? jobId, prompt, frames.map(({ frame }) => frame), digests])
  return Number.parseInt(hash('sha256', scene).slice(0, 8), 16)
}

/** Size of the clip. Validation accepts only these values; the first of each list is the default. */
function sizeOf({ size, resolution, aspectRatio }: VideoOrder['request']): ClipSize {
  if (size !== null) return size
  const known = CLIP_RESOLUTIONS.find((name) => name === resolution) ?? '480p'
  return clipSize(known, CLIP_ASPECT_RATIOS.find((name) => name === aspectRatio) ?? '16:9')
}
