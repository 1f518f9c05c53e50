import { MEDIA_KINDS, type MediaFigures } from '../../../schemas/money/text-costs.ts'
import type { TokenUsage } from '../../ports/inference/inference.ts'

/**
 * The usage with its tokens of sounds and pictures, if there are any. Each figure is at most the bucket that it
 * is a part of, whatever the provider tells. D24.
 */
export function withMedia(usage: TokenUsage, told: MediaFigures): TokenUsage {
  const { input, cacheRead, output } = usage
  const audio = Math.min(told.audio, input)
  const media = {
    audio,
    image: Math.min(told.image, input - audio),
    audioRead: Math.min(told.audioRead, cacheRead),
    audioOutput: Math.min(told.audioOutput, output),
  }
  return MEDIA_KINDS.some((kind) => media[kind] > 0) ? { ...usage, media } : usage
}
