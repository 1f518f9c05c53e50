import type { Failure } from '../../../../schemas/failures.ts'
import { objectOf, type Members } from '../../../../schemas/values/members.ts'
import type { TokenUsage, WrittenPart } from '../../../ports/inference/inference.ts'
import { INVALID } from '../native-events.ts'
import type { PartRead } from '../protocol.ts'
import { geminiPart, isThere } from './gemini-content.ts'
import { geminiFinish } from './gemini-finish.ts'
import { geminiUsageOf } from './gemini-usage.ts'

/** Characters of an id, and of the word for an end; longer ones are not kept. */
const WORD_CHARS_MAX = 256

type Finish = Extract<WrittenPart, { readonly kind: 'finish' }>

/**
 * Gemini's answer, in chunks or as the only chunk of a whole one. The finish is kept until the last: some
 * servers tell it in each chunk.
 */
export class GeminiAnswer {
  hasOutput = false
  /** In UTF-8. */
  outputBytes = 0
  finishReason: string | null = null
  upstreamId: string | null = null
  /** Null: the answer has not ended. */
  finish: Finish | null = null
  #calls = 0
  #usage: TokenUsage | null = null

  /** As the last chunk that has it tells it. */
  get usage(): TokenUsage | null {
    const usage = this.#usage
    return usage !== null && this.hasOutput && usage.output + usage.reasoning === 0 ? null : usage
  }

  take(chunk: Members): PartRead {
    const { responseId, usageMetadata, candidates, promptFeedback } = chunk
    if (isWord(responseId)) this.upstreamId ??= responseId
    if (isThere(usageMetadata)) this.#usage = geminiUsageOf(usageMetadata)
    const blocked = objectOf(promptFeedback)?.['blockReason']
    if (isWord(blocked)) this.#ended('content_filter', blocked)
    if (!isThere(candidates)) return { parts: [], failure: null }
    if (!Array.isArray(candidates)) return REFUSED
    const [candidate, ...others] = candidates as readonly unknown[]
    // One answer was asked for.
    if (others.length > 0) return REFUSED
    return candidate === undefined ? { parts: [], failure: null } : this.#candidate(objectOf(candidate))
  }

  #candidate(candidate: Members | null): PartRead {
    if (candidate === null || (candidate['index'] ?? 0) !== 0) return REFUSED
    const { content, finishReason } = candidate
    const parts: WrittenPart[] = []
    const isRead = !isThere(content) || this.#content(objectOf(content), parts)
    return { parts, failure: isRead ? this.#finished(finishReason) : INVALID }
  }

  /** @returns false: it is no content; what came before is in `parts` */
  #content(content: Members | null, parts: WrittenPart[]): boolean {
    if (content === null) return false
    if (!isThere(content['parts'])) return true
    if (!Array.isArray(content['parts'])) return false
    for (const part of content['parts'] as readonly unknown[]) {
      const written = geminiPart(part, { calls: this.#calls, answerId: this.upstreamId })
      if (written === null) return false
      for (const one of written) this.#wrote(one)
      parts.push(...written)
    }
    return true
  }

  #wrote(part: WrittenPart): void {
    if (part.kind === 'tool') this.#calls++
    if (part.kind !== 'signature') this.hasOutput = true
    if ('text' in part) this.outputBytes += Buffer.byteLength(part.text)
  }

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
    this.finish = { kind: 'finish', choice: 0, reason, native, stopSequence: null }
  }
}

const REFUSED: PartRead = { parts: [], failure: INVALID }

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= WORD_CHARS_MAX
}
