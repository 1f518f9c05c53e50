import type { Members } from '../../values/members.ts'
import type { Dialect } from '../text-request.ts'
import { readChat } from './chat/read-chat.ts'
import { readMessages } from './messages/read-messages.ts'
import type { Prompt } from './prompt.ts'
import { readResponses } from './responses/read-responses.ts'

/** A body that has passed the schema of its dialect, in the form between. D5. */
export const PROMPT_READERS: Readonly<Record<Dialect, (body: Members) => Prompt>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
}
