import { writeChat } from './chat/write-request.ts'
import { writeGemini } from './gemini/write-request.ts'
import { writeMessages } from './messages/write-request.ts'
import type { Prompt } from './prompt/prompt.ts'
import { writeResponses } from './responses/write-request.ts'
import type { WriteTerms, WrittenPrompt } from './prompt/write-terms.ts'
import type { TextProtocol } from '../schemas/models/protocols.ts'

export const PROMPT_WRITERS: Readonly<
  Record<TextProtocol, (prompt: Prompt, terms: WriteTerms) => WrittenPrompt>
> = {
  chat: writeChat,
  responses: writeResponses,
  messages: writeMessages,
  gemini: writeGemini,
}
