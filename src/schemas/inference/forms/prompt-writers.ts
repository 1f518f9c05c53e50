import type { TextProtocol } from '../../models/text-models.ts'
import { writeChat } from './chat/write-chat.ts'
import { writeGemini } from './gemini/gemini-request.ts'
import { writeMessages } from './messages/write-messages.ts'
import type { Prompt } from './prompt.ts'
import { writeResponses } from './responses/write-responses.ts'
import type { WriteTerms, WrittenPrompt } from './write-terms.ts'

/** A prompt as an endpoint of each protocol takes it. D5. */
export const PROMPT_WRITERS: Readonly<
  Record<TextProtocol, (prompt: Prompt, terms: WriteTerms) => WrittenPrompt>
> = {
  chat: writeChat,
  responses: writeResponses,
  messages: writeMessages,
  gemini: writeGemini,
}
