/** A node for the mix: with a provider of embeddings and one of videos, both on this machine. */
import {
  PROVIDER_KEY,
  standCatalogue,
  startStand,
  type Stand,
  type StandInput,
} from '../../test/support/nodes/stand.ts'
import { startVideosProcess } from '../../test/support/videos/video-provider-process.ts'

export const MIXED_VIDEO_MODEL = 'mixed/clip'
/** USD a token: each call moves money. */
const TOKEN_PRICE = '0.00000002'
/** USD a second of video. */
const SECOND_PRICE = '0.0001'
/** Milliseconds that the provider takes for a clip. */
const CLIP_MS = 300

/** Starts the node; its end stops everything that it started. */
export async function startMixedStand(
  input: Omit<StandInput, 'catalogue' | 'provider'> = {},
): Promise<Stand> {
  const videos = await startVideosProcess({ makeMs: CLIP_MS })
  try {
    const stand = await startStand({
      ...input,
      catalogue: (mockOrigin) => catalogueOf(mockOrigin, videos.baseUrl),
    })
    return {
      ...stand,
      async stop() {
        await stand.stop()
        await videos.stop()
      },
    }
  } catch (failure) {
    await videos.stop()
    throw failure
  }
}

function catalogueOf(mockOrigin: string, videosUrl: string): object {
  const { providers, models } = standCatalogue(mockOrigin, TOKEN_PRICE)
  const video = { submit: 'token', token_header: 'idempotency-key', concurrency: 64, polls_per_second: 100 }
  return {
    providers: [
      ...providers,
      { slug: 'mixed', protocol: 'openai', base_url: videosUrl, api_key_env: PROVIDER_KEY, video },
    ],
    models: [
      ...models,
      {
        id: MIXED_VIDEO_MODEL,
        name: 'Mixed',
        architecture: { input_modalities: ['text'], output_modalities: ['video'] },
        video: {
          durations: [4],
          resolutions: ['720p'],
          aspect_ratios: ['16:9'],
          pricing_skus: { duration_seconds: SECOND_PRICE },
        },
        endpoints: [{ provider: 'mixed', upstream_model: 'clip' }],
      },
    ],
  }
}
