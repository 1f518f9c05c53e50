import type { TextPrice } from '../../../schemas/money/text-costs.ts'
import type { Endpoint } from '../../ports/models/models.ts'

/** The prices of an endpoint that writes; null: its model writes no text. */
export function textPriceOf({ text, promptNanoPerMillion, requestNano }: Endpoint): TextPrice | null {
  if (text === null) return null
  const { completionNanoPerMillion, reasoningNanoPerMillion } = text
  const { cacheReadNanoPerMillion, cacheWriteNanoPerMillion, cacheWriteHourNanoPerMillion } = text
  return {
    promptNanoPerMillion,
    cacheReadNanoPerMillion,
    cacheWriteNanoPerMillion,
    cacheWriteHourNanoPerMillion,
    completionNanoPerMillion,
    reasoningNanoPerMillion,
    requestNano,
    searchNano: text.webSearchNano ?? 0,
    ...(text.mediaNanoPerMillion && { media: text.mediaNanoPerMillion }),
  }
}
