import { GENERATION_ID_CHARS_MAX } from '../../../schemas/inference/generation-limits.ts'
import { generationMsOf } from '../../../schemas/inference/generations.ts'
import type { Failure } from '../../../schemas/failures.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import type { InferenceEnd } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import type { Call } from '../define.ts'
import type { TokenUsage } from '../../../dialects/parts.ts'

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

  /** Waits for a caller who is behind. */
  async stall(room: Promise<void>): Promise<void> {
    const startedAt = this.#now()
    await room
    this.#stalledMs += this.#now() - startedAt
  }
}

/** A call, as far as its record needs it. */
export interface CallRecord {
  readonly call: Pick<Call, 'key' | 'requestId' | 'startedAt' | 'signal' | 'hasEnded' | 'notes'>
  /** `gen_…` */
  readonly id: string
  /** The first of the call; an answer tells its own. D11. */
  readonly model: string
  readonly isStreamed: boolean
  /** Pictures and sounds of the prompt. */
  readonly media: { readonly image: number; readonly audio: number }
  /** Null: not streamed. */
  readonly delivery: Delivery | null
}

/** How a call ended. */
export interface CallEnd {
  /** Null: the head of the answer had left, and no provider has begun to answer. */
  readonly end: InferenceEnd | null
  /** Null: the answer is whole. */
  readonly failure: Failure | null
  /** The charged part of the cost. */
  readonly chargedNano: number
}

/** Keeps the record of a call, also of one that broke off or was left. No step of this can fail. D33. */
export function keepGeneration(
  { call, id, model, isStreamed, media, delivery }: CallRecord,
  { end, failure, chargedNano }: CallEnd,
  { generations }: Pick<Ports, 'generations'>,
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

/** A stream that is read to its end without its caller has no failure. D27. */
function hasLeft({ hasEnded, signal }: CallRecord['call'], failure: Failure | null): boolean {
  if (failure !== null) return failure.name === 'client_gone'
  return hasEnded && endedBy(signal).name === 'client_gone'
}

function sinceStart({ startedAt }: CallRecord['call'], at: number | null): number | null {
  return at === null ? null : Math.round(at - startedAt)
}

const WORD = /^[\w.:/+=-]+$/

/** A text of the provider, unless it may be more than a name: prompts and answers are kept nowhere. D37. */
export function wordOf(text: string | null): string | null {
  if (text === null || text.length > GENERATION_ID_CHARS_MAX || !WORD.test(text)) return null
  return text
}

/** Postgres has no character 0, and UTF-8 no half of a pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}').toWellFormed()
}
