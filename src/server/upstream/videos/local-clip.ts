import { createHash } from 'node:crypto'
import { CLIP_FRAMES_PER_SECOND } from '../../../schemas/videos/clip-limits.ts'
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
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
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
import { imagesIn, type Images } from './images.ts'
import { jobError } from './job-errors.ts'

export interface LocalDeps {
  readonly slug: string
  readonly video: ProviderVideo
  readonly jobs: Pick<ShortJobs, 'run'>
  readonly images: Images
}

/**
 * `sluice/clip-1`: a small clip that the pool of short jobs renders when the clip is fetched. Its pictures
 * follow from the order alone, so that any runner can render the clip, also again after a crash. Design §10.
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
   * Renders the clip. Failures: upstream_refused (an image that cannot be fetched or read, with the reason),
   * busy (the pool or the memory for images is full: later there may be room), and those of the pool of short
   * jobs.
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
    const bytes = loaded.images.map((image) => image.bytes)
    const byFrame = (name: 'first_frame' | 'last_frame'): Uint8Array | null =>
      bytes[frames.findIndex(({ frame }) => frame === name)] ?? null
    const more = {
      firstFrame: byFrame('first_frame'),
      lastFrame: byFrame('last_frame'),
      references: bytes.slice(frames.length),
    }
    const { signal, endsAt } = times
    const caller = {
      organizationId: order.organizationId,
      workspaceId: order.workspaceId,
      key: order.keyHash,
    }
    const rendered = await this.#jobs.run(
      'render_clip',
      { ...sceneOf(order), ...more },
      { caller, signal, endsAt },
    )
    loaded.release()
    if (!rendered.ok) return rendered
    if (!rendered.value.ok)
      return fail('upstream_refused', { detail: jobError('reference_unusable', rendered.value.detail) })
    return ok(new ClipReader(readerOf(rendered.value.mp4), times, VIDEO_CLIP_BYTES_MAX))
  }

  cancel(): Promise<void> {
    return Promise.resolve()
  }
}

type Scene = Pick<
  ShortJobTypes['render_clip']['in'],
  'prompt' | 'seconds' | 'width' | 'height' | 'framesPerSecond' | 'seed'
>

function sceneOf({ jobId, request }: VideoOrder): Scene {
  const { prompt, seconds, seed } = request
  return {
    prompt,
    seconds,
    ...sizeOf(request),
    framesPerSecond: CLIP_FRAMES_PER_SECOND,
    seed: seed ?? seedOf(jobId),
  }
}

/** The same for each attempt of a job, and another for each job. */
function seedOf(jobId: string): number {
  return createHash('sha256').update(jobId).digest().readUInt32BE()
}

/** Size of the clip. Validation accepts only these values; the first of each list is the default. */
function sizeOf({ size, resolution, aspectRatio }: VideoOrder['request']): ClipSize {
  if (size !== null) return size
  const known = CLIP_RESOLUTIONS.find((name) => name === resolution) ?? '480p'
  return clipSize(known, CLIP_ASPECT_RATIOS.find((name) => name === aspectRatio) ?? '16:9')
}
