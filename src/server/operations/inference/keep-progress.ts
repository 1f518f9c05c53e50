import { keptPrice } from '../../../schemas/money/price-at.ts'
import type { InferenceProgress } from '../../ports/inference/inference.ts'
import type { StreamNote } from '../../ports/inference/generations.ts'
import type { Hold } from '../../ports/money/money.ts'
import { wordOf, storable, type CallRecord } from './keep-generation.ts'
import { inputTokens, outputTokens } from '../../../schemas/money/costs.ts'

/** Tells the journal what is charged, and recorded, of a stream whose front dies. D28. */
export function keepProgress(
  { call, id, media, delivery }: Pick<CallRecord, 'call' | 'id' | 'media' | 'delivery'>,
  { usage, costNano, provider, model, isByok, isDrained, upstreamMs, ...more }: InferenceProgress,
  hold: Pick<Hold, 'progress'>,
): void {
  const { sessionId } = call.notes
  const firstAt = delivery?.firstOutputAt ?? null
  const note: StreamNote = {
    id,
    upstreamId: wordOf(more.upstreamId),
    sessionId: sessionId === undefined ? null : storable(sessionId),
    firstOutputMs: firstAt === null ? null : Math.round(firstAt - call.startedAt),
    stalledMs: Math.round(delivery?.stalledMs ?? 0),
    attempts: more.attempts,
    dropped: more.dropped,
    images: media.image,
    sounds: media.audio,
    serviceTier: wordOf(more.reported.service_tier ?? null),
    price: keptPrice(more.price),
    unpricedTier: more.unpricedTier,
  }
  hold.progress({
    costNano,
    isByok,
    isEstimated: true,
    provider,
    model,
    tokens: inputTokens(usage),
    text: { outputTokens: outputTokens(usage), cachedTokens: usage.cacheRead },
    milliseconds: upstreamMs,
    isDrained,
    note: JSON.stringify(note),
  })
}
