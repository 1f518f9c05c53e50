import { generationMsOf } from '../../schemas/inference/generations.ts'
import type { Failure } from '../../schemas/failures.ts'
import { callerOf } from '../../schemas/values/callers.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { keptPrice, type ResolvedPrice } from '../../schemas/money/price-at.ts'
import type { StreamNote } from '../ports/inference/generations.ts'
import type { CallProgress } from '../ports/money/money.ts'
import { inputTokens, outputTokens } from '../../schemas/money/costs.ts'
import type { FinalEvents, ReportedTiers, TokenUsage } from '../../dialects/parts.ts'
import type { TierMember } from '../../schemas/models/price-conditions.ts'
import type { AnswerPorts, TextCaller } from '../ports/inference/inference.ts'
import type { WholeAnswer } from '../upstream/inference/protocol.ts'
import { GENERATION_ID_CHARS_MAX } from '../../schemas/inference/inference-limits.ts'

/** The endpoint whose answer is delivered. */
export interface AnsweredBy {
  /** Canonical id of the model. */
  readonly model: string
  readonly provider: string
  readonly isByok: boolean
  /** True when the endpoint has neither a price nor `free`, or the provider ran tools without a price. */
  readonly isUnpriced: boolean
  /** The tier that the answer reports and that has no modifier in the catalogue, so that the base price is charged; null: none. */
  readonly unpricedTier: TierMember | null
  /** Attempts, with this one. */
  readonly attempts: number
  /** Members of the request that were not sent to the provider, or that have no effect. */
  readonly dropped: readonly string[]
  /** Unix seconds from the events of the provider, the same in all; absent: those of the call. */
  readonly createdS?: number | undefined
}

/** The end of a call that a model has begun to answer. */
export interface InferenceEnd extends AnsweredBy {
  /** Null for a complete answer; otherwise the reason why it broke off after its first output. */
  readonly failure: Failure | null
  readonly usage: TokenUsage
  /** True when the usage is estimated from the delivered output. */
  readonly isEstimated: boolean
  /** Cost of the usage in whole nano-USD. */
  readonly costNano: number
  /** The prices of that cost. */
  readonly price: ResolvedPrice
  readonly reported: ReportedTiers
  /** Milliseconds of the attempt whose answer was delivered. */
  readonly upstreamMs: number
  /** Null: the sink has the whole answer. */
  readonly answer: WholeAnswer | null
  /** Returns the bytes of a whole answer, parts of which the sink holds, to the front's budget; called once when the answer was written. */
  readonly release?: () => void
  /** Null: the dialect reports usage in a separate event that Sluice writes, or the stream is not complete. */
  readonly finalEvents: FinalEvents | null
  /** The provider's own id of the answer; null: not reported. */
  readonly upstreamId: string | null
  /** The provider's finish reason; null: none was reported. */
  readonly finishReason: string | null
}

/** The progress of a streamed answer, extrapolated by two seconds at its rate. */
export interface InferenceProgress extends AnsweredBy {
  readonly usage: TokenUsage
  /** Cost of the usage in whole nano-USD. */
  readonly costNano: number
  readonly price: ResolvedPrice
  readonly reported: ReportedTiers
  /** Milliseconds of the attempt. */
  readonly upstreamMs: number
  /** True when the provider continues after its connection ends, and charges for it. */
  readonly isDrained: boolean
  readonly upstreamId: string | null
}

/** Measures how a streamed answer reaches its caller. */
export class Delivery {
  readonly #now: () => number
  #firstAt: number | null = null
  #stalledMs = 0

  /** @param now milliseconds of the same clock as the start of the call */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  get firstOutputAt(): number | null {
    return this.#firstAt
  }

  get stalledMs(): number {
    return this.#stalledMs
  }

  /** An output was written to the caller. */
  wrote(): void {
    this.#firstAt ??= this.#now()
  }

  /** Waits for a slow caller, and counts the time as stalled. */
  async stall(room: Promise<void>): Promise<void> {
    const startedAt = this.#now()
    await room
    this.#stalledMs += this.#now() - startedAt
  }
}

/** A call, as far as its record needs it. */
export interface CallRecord {
  readonly call: Pick<TextCaller, 'key' | 'requestId' | 'startedAt' | 'signal' | 'hasEnded' | 'notes'>
  /** `gen_…` */
  readonly id: string
  /** The first model of the call; an answer has its own. */
  readonly model: string
  readonly isStreamed: boolean
  /** Pictures and sounds of the prompt. */
  readonly media: { readonly image: number; readonly audio: number }
  /** Null: not streamed. */
  readonly delivery: Delivery | null
}

export interface CallEnd {
  /** Null: the head of the answer had been sent, and no provider has begun to answer. */
  readonly end: InferenceEnd | null
  /** Null: the answer is whole. */
  readonly failure: Failure | null
  /** The charged part of the cost. */
  readonly chargedNano: number
}

/** Stores the record of a call, also if it broke off or its caller disconnected. This never fails. */
export function keepGeneration(
  { call, id, model, isStreamed, media, delivery }: CallRecord,
  { end, failure, chargedNano }: CallEnd,
  { generations }: Pick<AnswerPorts, 'generations'>,
): void {
  const { organizationId, workspaceId } = callerOf(call.key)
  const { sessionId } = call.notes
  const isCancelled = isStreamed && hasLeft(call, failure)
  const reason = failure === null && !isCancelled ? wordOf(end?.finishReason ?? null) : null
  generations.keep({
    id,
    createdMs: generationMsOf(id) ?? Date.now(),
    organizationId,
    workspaceId,
    upstreamId: wordOf(end?.upstreamId ?? null),
    facts: {
      requestId: call.requestId,
      sessionId: sessionId === undefined ? null : storable(sessionId),
      model: end?.model ?? model,
      provider: end?.provider ?? null,
      isStreamed,
      isCancelled,
      finishReason: failure === null || isCancelled ? reason : 'error',
      usage: end?.usage ?? NO_USAGE,
      isEstimated: end?.isEstimated ?? false,
      chargedNano,
      isByok: end?.isByok ?? false,
      latencyMs: Math.round(performance.now() - call.startedAt),
      upstreamMs: Math.round(end?.upstreamMs ?? 0),
      firstOutputMs: sinceStart(call, delivery?.firstOutputAt ?? null),
      stalledMs: Math.round(delivery?.stalledMs ?? 0),
      attempts: end?.attempts ?? call.notes.failedAttempts?.length ?? 0,
      dropped: end?.dropped ?? [],
      images: media.image,
      sounds: media.audio,
      serviceTier: wordOf(end?.reported.service_tier ?? null),
      price: end?.price ?? null,
      unpricedTier: end?.unpricedTier ?? null,
    },
  })
}

const NO_USAGE: TokenUsage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Whether the caller has disconnected: a stream that is read to its end without its caller has no failure. */
function hasLeft({ hasEnded, signal }: CallRecord['call'], failure: Failure | null): boolean {
  if (failure !== null) return failure.name === 'client_gone'
  return hasEnded && endedBy(signal).name === 'client_gone'
}

function sinceStart({ startedAt }: CallRecord['call'], at: number | null): number | null {
  return at === null ? null : Math.round(at - startedAt)
}

const WORD = /^[\w.:/+=-]+$/

/** A text of the provider, unless it may be more than a name: prompts and answers are never stored. */
export function wordOf(text: string | null): string | null {
  if (text === null || text.length > GENERATION_ID_CHARS_MAX || !WORD.test(text)) return null
  return text
}

/** Makes a text storable: Postgres cannot store the character 0, and UTF-8 no half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed()
}

/** For the journal: the amount that is charged and recorded for a stream whose front dies. */
export function progressOf(
  { call, id, media, delivery }: Pick<CallRecord, 'call' | 'id' | 'media' | 'delivery'>,
  { usage, costNano, provider, model, isByok, isDrained, upstreamMs, ...more }: InferenceProgress,
): CallProgress {
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
  return {
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
  }
}
