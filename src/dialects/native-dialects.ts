import type { Dialect } from '../schemas/inference/text-request.ts'
import { CHAT } from '../server/upstream/inference/chat/chat-dialect.ts'
import { MESSAGES } from '../server/upstream/inference/messages/messages-dialect.ts'
import type { NativeDialect } from './native.ts'
import { RESPONSES } from '../server/upstream/inference/responses/responses-dialect.ts'

/** The forms in which callers and providers speak alike. D5. */
export const NATIVE_DIALECTS: Readonly<Record<Dialect, NativeDialect>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
}
