import type { TextProtocol } from '../schemas/models/text-models.ts'
import { ChatParts, chatWhole } from './chat/parts.ts'
import { GeminiPartStream, geminiWhole } from './gemini/parts.ts'
import { MessagesParts, messageWhole } from './messages/parts.ts'
import type { ReadLarge } from './part-events.ts'
import { ResponsesParts, responseWhole } from './responses/parts.ts'
import type { PartStream, WholeParts, WholeRead, FailureOf, WholeAsked } from './parts.ts'
import { ok } from '../schemas/failures.ts'
import { OriginalCalls } from './original-calls.ts'

/** What is known of a provider's answers besides their bodies. */
export interface AnswerTerms {
  /** Of signatures, where a provider has the protocol of another maker and keys of its own. */
  readonly format?: string
  /** What the head of the answer reports; null: nothing. F6. */
  readonly tier?: string | null
}

interface StreamTerms extends AnswerTerms {
  /** As in `PartEvents`. */
  readonly readLarge?: ReadLarge
}

/** How the answers of a protocol are read in the internal form. D5. */
export interface PartProtocol {
  stream(failureOf: FailureOf, terms?: StreamTerms): PartStream
  /** Failures: those of a stream with this answer, but upstream_invalid where it is not whole. D14. */
  whole(body: Buffer, terms?: AnswerTerms): WholeRead<WholeParts>
}

export const PART_PROTOCOLS: Readonly<Record<TextProtocol, PartProtocol>> = {
  chat: { stream: (failureOf, { readLarge } = {}) => new ChatParts(failureOf, readLarge), whole: chatWhole },
  responses: {
    stream: (failureOf, { format, readLarge } = {}) => new ResponsesParts(failureOf, format, readLarge),
    whole: (body, { format } = {}) => responseWhole(body, format),
  },
  messages: {
    stream: (failureOf, { readLarge } = {}) => new MessagesParts(failureOf, readLarge),
    whole: messageWhole,
  },
  gemini: {
    stream: (failureOf, { readLarge, tier } = {}) => new GeminiPartStream(failureOf, { readLarge, tier }),
    whole: (body, { tier } = {}) => geminiWhole(body, tier),
  },
}

/** A whole answer in the internal form. D5. */
export function wholeParts({
  protocol,
  answer,
  signatureFormat: format,
  tier,
  origins,
}: WholeAsked): WholeRead<WholeParts> {
  const body = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  const read = PART_PROTOCOLS[protocol].whole(body, { format, tier })
  if (!read.ok || origins.length === 0) return read
  return ok({ ...read.value, parts: new OriginalCalls(origins).of(read.value.parts) })
}
