import type { Failure } from '../../../../schemas/failures.ts'
import { STREAM_MENDED_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import { endOfSpace } from '../../../../schemas/values/json-bytes.ts'
import { objectOf, type Members } from '../../../../schemas/values/members.ts'
import type { TokenUsage, WrittenPart } from '../../../ports/inference/inference.ts'
import { failureOfEvent } from '../../provider-failure.ts'
import type { RedactedTexts } from '../../reason.ts'
import { INVALID, isDoneMark, UNFINISHED } from '../native-events.ts'
import type { PartRead, PartStream, WholeParts } from '../protocol.ts'
import { SseReader, type SseEvent } from '../sse-reader.ts'
import { GeminiAnswer } from './gemini-answer.ts'
import { isThere } from './gemini-content.ts'

/**
 * The stream of `streamGenerateContent?alt=sse`. It has no last event: the end of the body is the end, and the
 * word for it must have come. D22.
 */
export class GeminiPartStream implements PartStream {
  readonly isDone = false
  readonly #reader = new SseReader(STREAM_MENDED_BYTES_MAX)
  readonly #answer = new GeminiAnswer()
  readonly #redacted: RedactedTexts
  #failure: Failure | null = null

  constructor(redacted: RedactedTexts) {
    this.#redacted = redacted
  }

  get heldBytes(): number {
    return this.#reader.heldBytes
  }

  get hasOutput(): boolean {
    return this.#answer.hasOutput
  }

  get outputBytes(): number {
    return this.#answer.outputBytes
  }

  get usage(): TokenUsage | null {
    return this.#answer.usage
  }

  get finishReason(): string | null {
    return this.#answer.finishReason
  }

  get upstreamId(): string | null {
    return this.#answer.upstreamId
  }

  get finalParts(): readonly WrittenPart[] {
    const { finish } = this.#answer
    return finish === null ? [] : [finish]
  }

  read(bytes: Uint8Array): PartRead {
    if (this.#failure !== null) return { parts: [], failure: this.#failure }
    const { events, failure } = this.#reader.read(bytes)
    const parts: WrittenPart[] = []
    for (const event of events) {
      const read = this.#take(event)
      for (const part of read.parts) parts.push(part)
      this.#failure = read.failure
      if (this.#failure !== null) break
    }
    this.#failure ??= failure
    return { parts, failure: this.#failure }
  }

  end(): Failure | null {
    return this.#failure ?? (this.#answer.finish === null ? UNFINISHED : null)
  }

  #take({ name, data }: SseEvent): PartRead {
    const start = endOfSpace(data, 0)
    if (start === data.length || isDoneMark(data, start)) return NOTHING
    const chunk = parsed(data)
    if (name === 'error' || isThere(chunk?.['error']))
      return { parts: [], failure: failureOfEvent(data, this.#redacted) }
    return chunk === null ? { parts: [], failure: INVALID } : this.#answer.take(chunk)
  }
}

const NOTHING: PartRead = { parts: [], failure: null }

/** The answer of `generateContent`. Null: it is none, or has not come to its end. D14. */
export function geminiWhole(body: Buffer): WholeParts | null {
  const chunk = parsed(body)
  if (chunk === null || isThere(chunk['error'])) return null
  const answer = new GeminiAnswer()
  const { parts, failure } = answer.take(chunk)
  if (failure !== null || answer.finish === null) return null
  const { usage, outputBytes, finishReason, upstreamId } = answer
  return { parts: [...parts, answer.finish], usage, outputBytes, finishReason, upstreamId }
}

/** Null: it is no JSON object. */
function parsed(json: Buffer): Members | null {
  try {
    return objectOf(JSON.parse(json.toString('utf8')))
  } catch {
    return null
  }
}
