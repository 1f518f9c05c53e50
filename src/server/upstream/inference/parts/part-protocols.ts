import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import type { RedactedTexts } from '../../reason.ts'
import type { PartStream, WholeParts, WholeRead } from '../protocol.ts'
import { ChatParts, chatWhole } from './chat-parts.ts'
import { GeminiPartStream, geminiWhole } from './gemini-parts.ts'
import { MessagesParts, messageWhole } from './messages-parts.ts'
import type { ReadLarge } from './part-events.ts'
import { ResponsesParts, responseWhole } from './responses-parts.ts'

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
  stream(redacted: RedactedTexts, terms?: StreamTerms): PartStream
  /** Failures: those of a stream with this answer, but upstream_invalid where it is not whole. D14. */
  whole(body: Buffer, terms?: AnswerTerms): WholeRead<WholeParts>
}

export const PART_PROTOCOLS: Readonly<Record<TextProtocol, PartProtocol>> = {
  chat: { stream: (redacted, { readLarge } = {}) => new ChatParts(redacted, readLarge), whole: chatWhole },
  responses: {
    stream: (redacted, { format, readLarge } = {}) => new ResponsesParts(redacted, format, readLarge),
    whole: (body, { format } = {}) => responseWhole(body, format),
  },
  messages: {
    stream: (redacted, { readLarge } = {}) => new MessagesParts(redacted, readLarge),
    whole: messageWhole,
  },
  gemini: {
    stream: (redacted, { readLarge, tier } = {}) => new GeminiPartStream(redacted, { readLarge, tier }),
    whole: (body, { tier } = {}) => geminiWhole(body, tier),
  },
}
