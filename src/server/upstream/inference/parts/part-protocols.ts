import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import type { RedactedTexts } from '../../reason.ts'
import type { PartStream, WholeParts, WholeRead } from '../protocol.ts'
import { ChatParts, chatWhole } from './chat-parts.ts'
import { GeminiPartStream, geminiWhole } from './gemini-parts.ts'
import { MessagesParts, messageWhole } from './messages-parts.ts'
import type { ReadLarge } from './part-events.ts'
import { ResponsesParts, responseWhole } from './responses-parts.ts'

/** How the answers of a protocol are read in the internal form. D5. */
export interface PartProtocol {
  /**
   * @param format of signatures, where a provider has the protocol of another maker and keys of its own
   * @param readLarge as in `PartEvents`
   */
  stream(redacted: RedactedTexts, format?: string, readLarge?: ReadLarge): PartStream
  /** Failures: those of a stream with this answer, but upstream_invalid where it is not whole. D14. */
  whole(body: Buffer, format?: string): WholeRead<WholeParts>
}

export const PART_PROTOCOLS: Readonly<Record<TextProtocol, PartProtocol>> = {
  chat: { stream: (redacted, _, readLarge) => new ChatParts(redacted, readLarge), whole: chatWhole },
  responses: {
    stream: (redacted, format, readLarge) => new ResponsesParts(redacted, format, readLarge),
    whole: responseWhole,
  },
  messages: {
    stream: (redacted, _, readLarge) => new MessagesParts(redacted, readLarge),
    whole: messageWhole,
  },
  gemini: {
    stream: (redacted, _, readLarge) => new GeminiPartStream(redacted, readLarge),
    whole: geminiWhole,
  },
}
