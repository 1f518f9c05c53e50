import type { Members } from '../../values/members.ts'
import type { Dialect } from '../text-request.ts'
import { readChat } from '../../../dialects/chat/read-request.ts'
import { readMessages } from '../../../dialects/messages/read-request.ts'
import type { Prompt } from '../../../dialects/prompt.ts'
import { readResponses } from '../../../dialects/responses/read-request.ts'

/** A body that has passed the schema of its dialect, in the form between. D5. */
export const PROMPT_READERS: Readonly<Record<Dialect, (body: Members) => Prompt>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
}
