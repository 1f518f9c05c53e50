import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { CHAT } from './chat/chat-dialect.ts'
import { MESSAGES } from './messages/messages-dialect.ts'
import type { NativeDialect } from '../../../dialects/native.ts'
import { RESPONSES } from './responses/responses-dialect.ts'

/** The forms in which callers and providers speak alike. D5. */
export const NATIVE_DIALECTS: Readonly<Record<Dialect, NativeDialect>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
}
