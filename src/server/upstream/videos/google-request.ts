import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import type { Image, RequestImages } from './images.ts'

export interface VeoInput {
  /** The images of the frames in their order, then those of the references. */
  readonly images: readonly Image[]
  readonly frames: RequestImages['frames']
  /** Address of the clip that this one continues; null for none. */
  readonly previousUri: string | null
}

/**
 * A job as `predictLongRunning` takes it. The model decides whether it makes sound; no field does. The API's
 * own page wraps images as `inlineData`, which the API refuses.
 */
export function veoRequest({ request }: VideoOrder, { images, frames, previousUri }: VeoInput): string {
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
