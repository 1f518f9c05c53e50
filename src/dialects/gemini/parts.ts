import { ok, type Failure } from '../../schemas/failures.ts'
import { objectOf, type Members } from '../../schemas/values/members.ts'
import { INVALID } from '../native-events.ts'
import { geminiPart, isThere } from '../../server/upstream/inference/parts/gemini-content.ts'
import { geminiFinish } from '../../server/upstream/inference/parts/gemini-finish.ts'
import { geminiUsageOf } from './usage.ts'
import { MadeCallIds } from '../../server/upstream/inference/parts/made-call-ids.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents, type ReadLarge } from '../part-events.ts'
import type { TokenUsage, WrittenPart, WholeParts, WholeRead, FailureOf } from '../parts.ts'

/** Characters of an id, and of the word for an end; longer ones are not kept. */
const WORD_CHARS_MAX = 256

interface GeminiTerms {
  readonly readLarge?: ReadLarge | undefined
  readonly tier?: string | null | undefined
}

type Finish = Extract<WrittenPart, { readonly kind: 'finish' }>

/**
 * The stream of `streamGenerateContent?alt=sse`. It has no last event: the end of the body is the end, and the
 * word for it must have come. Some servers tell the word in each chunk, so that only the last counts. D22.
 */
export class GeminiPartStream extends PartEvents {
  readonly #ids = new MadeCallIds()
  /** Null: the answer has not ended. */
  #finish: Finish | null = null
  #calls = 0
  #blocked: string | undefined
  #usage: TokenUsage | null = null

  /**
   * @param readLarge as in `PartEvents`
   * @param tier what the head of the answer reports; null: nothing
   */
  constructor(failureOf: FailureOf, { readLarge, tier }: GeminiTerms = {}) {
    super(failureOf, readLarge)
    this.report({ service_tier: tier })
  }

  /** As the last chunk that has it tells it; null: missing, no counts, or no output where there was some. D24. */
  get usage(): TokenUsage | null {
    const usage = this.#usage
    return usage !== null && this.hasOutput && usage.output + usage.reasoning === 0 ? null : usage
  }

  get blocked(): string | undefined {
    return this.hasOutput ? undefined : this.#blocked
  }

  get finalParts(): readonly WrittenPart[] {
    return this.#finish === null ? [] : [this.#finish]
  }

  protected override get isWhole(): boolean {
    return this.#finish !== null
  }

  protected override take(chunk: Members): Failure | 'failed' | null {
    const { error, responseId, usageMetadata, candidates, promptFeedback } = chunk
    if (isThere(error)) return 'failed'
    if (isWord(responseId)) this.upstreamId ??= responseId
    if (isThere(usageMetadata)) this.#usage = geminiUsageOf(usageMetadata)
    const blocked = objectOf(promptFeedback)?.['blockReason']
    if (isWord(blocked)) {
      this.#blocked = blocked
      this.#ended('content_filter', blocked)
    }
    if (!isThere(candidates)) return null
    if (!Array.isArray(candidates)) return INVALID
    const [candidate, ...others] = candidates as readonly unknown[]
    // One answer was asked for.
    if (others.length > 0) return INVALID
    return candidate === undefined ? null : this.#candidate(objectOf(candidate))
  }

  #candidate(candidate: Members | null): Failure | null {
    if (candidate === null || (candidate['index'] ?? 0) !== 0) return INVALID
    const { content, finishReason } = candidate
    const isRead = !isThere(content) || this.#content(objectOf(content))
    return isRead ? this.#finished(finishReason) : INVALID
  }

  /** @returns false: it is no content; what came before it is written */
  #content(content: Members | null): boolean {
    if (content === null) return false
    if (!isThere(content['parts'])) return true
    if (!Array.isArray(content['parts'])) return false
    for (const part of content['parts'] as readonly unknown[]) {
      const written = geminiPart(part, this.#idOf)
      if (written === null) return false
      for (const one of written) this.write(one)
    }
    return true
  }

  readonly #idOf = (name: string): string =>
    this.#ids.of({ nth: this.#calls++, name, answerId: this.upstreamId })

  #finished(native: unknown): Failure | null {
    if (!isThere(native)) return null
    if (!isWord(native)) return INVALID
    const told = geminiFinish(native, this.#calls > 0)
    if (told.kind === 'finish') this.#ended(told.reason, native)
    if (told.kind !== 'failure') return null
    this.finishReason = native
    return told.failure
  }

  #ended(reason: Finish['reason'], native: string): void {
    this.finishReason = native
    this.#finish = { kind: 'finish', choice: 0, reason, native, stopSequence: null }
  }
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= WORD_CHARS_MAX
}

/** The answer of `generateContent`. D14. */
export function geminiWhole(body: Buffer, tier?: string | null): WholeRead<WholeParts> {
  const answer = parsed(body)
  if (answer === null) return NO_ANSWER
  const stream = new GeminiPartStream(CLEANED_LATER, { tier })
  const read = stream.whole([answer])
  if (!read.ok) return read
  const { blocked, finalParts } = stream
  return ok({ ...read.value, parts: [...read.value.parts, ...finalParts], ...(blocked && { blocked }) })
}
